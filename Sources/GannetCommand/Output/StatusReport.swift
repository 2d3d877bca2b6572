import Crawl
import GannetBase
import GannetQueue

/// A queue's status. The names in its JSON are a contract; what is unknown is `null`.
struct StatusReport: Sendable {
    let name: String
    let report: QueueOverview
    let server: ServerStatus
    var work = WorkAtHand()

    var queue: QueueCounts { report.counts }

    /// Done, failed or cancelled.
    var ended: Int { queue.done + queue.failed + queue.cancelled }

    /// - Parameter last: The look before this one, by a watcher.
    static func look(at name: String, of cluster: ClusterState, after last: StatusReport? = nil) async throws -> StatusReport {
        let queue = cluster.queue(name)
        let report = try await queue.overview(batches: WorkAtHand.mostBatches)
        return StatusReport(
            name: name, report: report, server: try await cluster.server(),
            work: WorkAtHand(report.batches, open: report.counts.open, after: last?.work))
    }

    var unknown: UnknownQueue? { UnknownQueue(name, report) }

    /// Why the queue's progress cannot be told; `nil` where all its partitions are counted.
    var partial: String? { report.isPartial ? "unknown: a part of Redis is away" : nil }

    /// The time until all jobs will have ended, or why there is none to tell; `nil` when all have ended.
    /// - Parameter inSentence: It does not stand behind the label "left".
    func left(inSentence: Bool) -> String? {
        func unknown(_ reason: String = "") -> String { (inSentence ? "time left " : "") + "unknown" + reason }
        if report.isPartial { return unknown(" while a part of Redis is away") }
        guard queue.open > 0 else { return nil }
        if queue.isPaused { return unknown(" while the queue is paused") }
        if !report.hasLiveWorker { return "no worker is at work; 'gannet work' starts one" }
        if !report.holding.isEmpty { return "there is no room for more bodies: \(report.holding.wayOut)" }
        // The speed so far says nothing about jobs that wait for hosts.
        if let wait = WaitText(report.waits, of: queue.open, remaining: report.remaining) { return wait.sentence }
        guard let time = report.remaining else { return unknown() }
        return inSentence ? Amounts.timeLeft(time) : Amounts.roughTime(max(time, .seconds(1)))
    }

    var json: JSONValue { QueueStatus.fields.json(of: QueueStatus(name, report, server)) }
}

/// A queue that Redis does not know. Its name is seldom the name that was meant.
struct UnknownQueue: Sendable {
    private let name: String
    private let others: [String]

    init(_ name: String, among others: [String]) {
        self.name = name
        self.others = others.map(\.printable)
    }

    /// `nil` for a queue that exists.
    init?(_ name: String, _ overview: QueueOverview) {
        guard overview.isUnknown else { return nil }
        self.name = name
        others = overview.others.map(\.name.printable)
    }

    /// `there is no queue 'x': nothing was put into it, or it was purged`
    var sentence: String {
        let why =
            name.hasPrefix(RunIdentity.prefix)
            ? "its run has not begun, or has ended and removed it" : "nothing was put into it, or it was purged"
        return "there is no queue '\(name.printable)': \(why)"
    }

    /// `There are 'y', 'z'`: the other queues; `nil` where there are none.
    var names: String? {
        if others.isEmpty { return nil }
        return "There \(others.count == 1 ? "is" : "are") \(others.map { "'\($0)'" }.joined(separator: ", "))"
    }

    /// How another queue is named to a command.
    var advice: String? {
        guard let names, let first = others.first else { return nil }
        return "\(names): '--queue \(first)' shows \(others.count == 1 ? "it" : "the first")."
    }

    var hint: String { sentence + "." + (advice.map { " " + $0 } ?? "") }
}

/// The batches that have not ended, and the ones that were begun after the oldest of these. A queue may live for years, so a percentage
/// of all jobs that it ever had would say nothing about the jobs that wait now. When all have ended, these stay the work at hand until
/// another batch begins.
struct WorkAtHand: Sendable, Equatable {
    var batches = 0
    var ended = 0
    var total = 0

    /// The numbers of the oldest batch at hand and of the queue's newest batch; 0 where there is none. A later batch has a higher number.
    private var oldest = 0
    private var newest = 0
    private var hasEnded = false

    static let mostBatches = 100

    init() {}

    /// - Parameters:
    ///   - found: The latest batches, as many as are looked at.
    ///   - open: Jobs of the queue that have not ended, so that what is left to do is never less.
    ///   - last: What a watcher saw before. Without it, the newest batch of a queue whose jobs have all ended was at hand last.
    init(_ found: [Batch], open: Int, after last: WorkAtHand? = nil) {
        newest = found.filter { $0.total > 0 }.map(\.number).max() ?? 0
        hasEnded = open == 0
        let atHand: [Batch]
        if hasEnded {
            let first = last.map { $0.hasEnded && newest > $0.newest ? $0.newest + 1 : $0.oldest } ?? newest
            atHand = found.filter { $0.number >= first && $0.total > 0 }
        } else {
            let age = found.filter { $0.ended < $0.total }.compactMap(\.age).max() ?? .zero
            atHand = found.filter { $0.ended < $0.total || $0.age.map { $0 <= age } ?? false }
        }
        oldest = atHand.map(\.number).min() ?? newest
        batches = atHand.count
        ended = atHand.reduce(0) { $0 + $1.ended }
        // Each partition is read at a moment of its own. A job that ends between two looks must not make the total smaller than it is.
        total = max(ended + open, atHand.reduce(0) { $0 + $1.total })
    }

    var share: Double { total > 0 ? min(1, Double(ended) / Double(total)) : 0 }
}

extension [HoldingBatch] {
    /// The batches whose bodies stay in Redis until somebody has exported them, and the commands that make room.
    var wayOut: String {
        guard let first = self.first else { return "its bodies are in use." }
        let isOneQueue = allSatisfy { $0.queue == first.queue }
        let named = prefix(3).map { "'\($0.batch)'" + (isOneQueue ? "" : " of the queue '\($0.queue)'") }
        let rest = count - named.count
        let all = named.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        let place = first.queue == QueueOption.usual ? "" : " --queue \(Sentence.quotedForShell(first.queue))"
        return "nobody has exported \(count == 1 ? "the batch" : "the batches") \(all). "
            + "'gannet export --batch \(first.batch)\(place) -d DIR' makes room, and so does 'gannet batch release \(first.batch)\(place)', "
            + "which gives the bodies up."
    }
}
