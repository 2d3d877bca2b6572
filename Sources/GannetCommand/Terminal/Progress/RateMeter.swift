/// How fast something goes of late, from totals that are noted now and then. No clock inside.
struct RateMeter: Sendable {
    private struct Mark {
        let time: ContinuousClock.Instant
        let ended: Int
        let bytes: Int
    }

    private var marks: [Mark] = []

    /// Long enough not to jump about, short enough to show what has changed.
    private static let window = Duration.seconds(10)
    private static let shortestSpan = Duration.milliseconds(400)

    mutating func note(ended: Int, bytes: Int, at time: ContinuousClock.Instant) {
        if let last = marks.last, time - last.time < Self.shortestSpan { return }
        marks.append(Mark(time: time, ended: ended, bytes: bytes))
        // The youngest of those that are too old is where the window begins.
        while marks.count > 2, time - marks[1].time >= Self.window { marks.removeFirst() }
    }

    /// Between the first and the last mark of the window; `nil` while there are not two.
    var rate: (endedPerSecond: Double, bytesPerSecond: Double)? {
        guard let first = marks.first, let last = marks.last, last.time - first.time >= Self.shortestSpan else { return nil }
        let seconds = (last.time - first.time) / .seconds(1)
        return (Double(max(0, last.ended - first.ended)) / seconds, Double(max(0, last.bytes - first.bytes)) / seconds)
    }
}
