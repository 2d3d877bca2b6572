import Gannet

/// How fast something goes of late, from totals that are noted now and then. No clock inside.
struct RateMeter: Sendable {
    private struct Mark {
        let time: ContinuousClock.Instant
        let ended: Int
        let bytes: Int
    }

    private var marks: [Mark] = []
    private var first: Mark?

    /// Long enough not to jump about, short enough to show what has changed.
    private static let window = Duration.seconds(10)
    /// What is left is told from more than that.
    private static let kept = Duration.seconds(60)
    private static let shortestSpan = Duration.milliseconds(400)

    mutating func note(ended: Int, bytes: Int, at time: ContinuousClock.Instant) {
        if let last = marks.last, time - last.time < Self.shortestSpan { return }
        let mark = Mark(time: time, ended: ended, bytes: bytes)
        first = first ?? mark
        marks.append(mark)
        // The youngest of those that are too old is where the window begins.
        while marks.count > 2, time - marks[1].time >= Self.kept { marks.removeFirst() }
    }

    /// Between the first and the last mark of the window; `nil` while there are not two.
    var rate: (endedPerSecond: Double, bytesPerSecond: Double)? {
        guard let last = marks.last, let first = marks.last(where: { last.time - $0.time >= Self.window }) ?? marks.first,
            last.time - first.time >= Self.shortestSpan
        else { return nil }
        let seconds = (last.time - first.time) / .seconds(1)
        return (Double(max(0, last.ended - first.ended)) / seconds, Double(max(0, last.bytes - first.bytes)) / seconds)
    }

    /// How long it takes until so many more have ended; `nil` where that cannot be told.
    func remaining(open: Int) -> Duration? {
        guard let first else { return nil }
        return TimeLeft.estimate(
            open: open, marks: ([first] + marks).map { .init(seconds: ($0.time - first.time) / .seconds(1), ended: $0.ended) })
    }
}
