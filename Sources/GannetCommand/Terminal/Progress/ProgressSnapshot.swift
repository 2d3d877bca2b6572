import Gannet

/// How far a command's work has come at one moment: all that its progress is drawn from.
struct ProgressSnapshot: Sendable {
    /// This command's own.
    var fetched = 0
    var cached = 0
    var failed = 0
    var bytes = 0
    var elapsed = Duration.zero

    /// Failures by class, the most frequent first.
    var failures: [(errorClass: String, count: Int)] = []

    /// What this is a part of, where that is known: a whole list, or a queue that others work on too.
    var whole: Whole?

    /// Of late; `nil` while too little was seen.
    var endedPerSecond: Double?
    var bytesPerSecond: Double?

    /// Until the whole has ended, if it goes on like this; `nil` where that cannot be told.
    var remaining: Duration?

    /// What cannot be taken now.
    var waits = QueueWaits()

    /// Jobs of the queue that have not ended and do not wait for anything but a place, those in flight among them.
    var inLine = 0

    /// The worker's places that slow hosts have held for some seconds, out of all, while others wait for one.
    var heldPlaces: (held: Int, all: Int)?

    /// The hosts that take longest, the slowest first.
    var slowest: [HostActivity] = []

    struct Whole: Sendable, Equatable {
        var total: Int
        /// Fetched or given up, also before this command began.
        var ended: Int
        /// Whose numbers these are, where it is not this command's own list.
        var name: String?

        var share: Double { total > 0 ? min(1, max(0, Double(ended) / Double(total))) : 0 }
    }

    /// What is waited for, where no time can be told.
    var waitedFor: String? {
        guard let whole, whole.ended < whole.total, remaining == nil else { return nil }
        return WaitText.sentence(waits, of: whole.total - whole.ended)
    }

    /// What could be done about slow hosts.
    var advice: String? {
        heldPlaces.map { "\($0.held) of \($0.all) places are held by slow hosts; a higher --concurrency would help" }
    }

    /// `http-404 8, dns 3`.
    var failuresByClass: String { failures.map { "\($0.errorClass) \($0.count)" }.joined(separator: ", ") }

    /// `slow.example 19.2 s (8 in flight), other.example 3.1 s`: those that are worth a word.
    var slowestHosts: String {
        slowest.filter { $0.slowness >= Self.worthTelling }.map { host in
            "\(host.name) \(Amounts.time(host.slowness))" + (host.running > 0 ? " (\(host.running) in flight)" : "")
        }.joined(separator: ", ")
    }

    private static let worthTelling = Duration.seconds(1)
}
