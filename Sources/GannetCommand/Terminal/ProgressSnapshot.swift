import Crawl
import GannetQueue

/// How far a command's work has come at one moment: all that its progress is drawn from.
struct ProgressSnapshot: Sendable {
    /// This command's own.
    var counts = WorkCounts()
    var elapsed = Duration.zero

    /// The list that this work belongs to, or a queue that other workers share; `nil` while it is not known.
    var whole: Whole?

    /// How long ago the numbers of a queue were read. The other numbers are the present ones.
    var wholeAge: Duration?

    /// Nothing to show of a queue that is empty.
    var shownWhole: Whole? { whole.flatMap { $0.total > 0 || $0.name == nil ? $0 : nil } }

    /// Of the last seconds; `nil` while too little was seen.
    var endedPerSecond: Double?
    var bytesPerSecond: Double?

    /// Until the whole has ended, if it goes on like this; `nil` where that cannot be told.
    var remaining: Duration?

    /// Jobs that cannot be taken now.
    var waits = QueueWaits()

    /// The part of the network that was missing for the last requests, and until the first URL is given up for that.
    var missing: (part: String, end: Duration?)?

    /// Whether Redis is known not to answer.
    var isRedisAway = false
    /// A server of a cluster is away. The counts of the queue are those from before.
    var isPartAway = false

    /// The worker's places that slow hosts have held for some seconds, out of all, while other jobs wait for one.
    var heldPlaces: (held: Int, all: Int)?

    /// The hosts that take longest, the slowest first.
    var slowest: [HostLoad] = []

    struct Whole: Sendable, Equatable {
        var total: Int
        /// Fetched or given up.
        var ended: Int
        /// `queue` where the numbers are a queue's and not this command's own list's.
        var name: String?
        /// Jobs of the queue that had ended before the work at hand began: when this worker began, or when the queue was last empty. They
        /// are not in the numbers above.
        var endedBefore = 0
        /// How many of these this worker had ended.
        var ownBefore = 0

        var share: Double { total > 0 ? min(1, max(0, Double(ended) / Double(total))) : 0 }
    }

    /// The reason why the rest waits; `nil` while most of it waits for its turn alone. The speed so far says nothing about such jobs, so no
    /// estimate stands beside it.
    func wait(goesOn: Bool = true) -> WaitText? {
        guard let whole, whole.ended < whole.total else { return nil }
        if isRedisAway { return WaitText("waiting for Redis") }
        if isPartAway { return WaitText("a part of Redis is away") }
        if let missing { return WaitText(whole.total - whole.ended, for: missing.part, firstEnd: goesOn ? missing.end : nil) }
        return WaitText(waits, of: whole.total - whole.ended, remaining: remaining, goesOn: goesOn)
    }

    /// A remedy for slow hosts.
    var advice: String? {
        heldPlaces.map { "\($0.held) of \($0.all) places are held by slow hosts; a higher --concurrency would help" }
    }

    /// `slow.example 19.2 s (8 in flight), other.example 3.1 s`: the hosts that are worth a word.
    var slowestHosts: String {
        slowest.filter { $0.slowness >= Self.worthTelling }.map { host in
            "\(host.name) \(Amounts.time(host.slowness))" + (host.running > 0 ? " (\(host.running) in flight)" : "")
        }.joined(separator: ", ")
    }

    /// Whether hosts, or something else, keep the rest waiting.
    var isHeldUp: Bool { wait() != nil || !slowestHosts.isEmpty }

    private static let worthTelling = Duration.seconds(1)
}

/// The speed of the last seconds, from totals that are noted now and then. No clock inside.
struct RateMeter: Sendable {
    /// The very first one, and those of the last minute.
    private var marks: [(time: ContinuousClock.Instant, ended: Int, bytes: Int)] = []

    /// Long enough not to jump about, short enough to show what has changed.
    private static let window = Duration.seconds(10)
    /// The time left is told from more than that.
    private static let kept = Duration.seconds(60)
    private static let shortestSpan = Duration.milliseconds(400)

    mutating func note(ended: Int, bytes: Int, at time: ContinuousClock.Instant) {
        if let last = marks.last, time - last.time < Self.shortestSpan { return }
        marks.append((time, ended, bytes))
        // The window begins at the youngest of the marks that are too old.
        while marks.count > 3, time - marks[2].time >= Self.kept { marks.remove(at: 1) }
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
        guard let first = marks.first else { return nil }
        return TimeLeft.estimate(open: open, marks: marks.map { .init(seconds: ($0.time - first.time) / .seconds(1), ended: $0.ended) })
    }
}
