import ClusterState
import GannetBasics

/// A queue's status. The names in its JSON are a contract; what is unknown is `null`.
struct StatusReport: Sendable {
    let name: String
    let report: QueueOverview
    let server: ServerStatus
    var work = WorkAtHand()

    var queue: QueueCounts { report.counts }

    /// Done, failed or cancelled.
    var ended: Int { queue.done + queue.failed + queue.cancelled }

    static func look(at name: String, of cluster: ClusterState) async throws -> StatusReport {
        let queue = cluster.queue(name)
        let report = try await queue.overview()
        let batches = report.counts.open > 0 ? try await queue.batches(limit: WorkAtHand.mostBatches).batches : []
        return StatusReport(
            name: name, report: report, server: try await cluster.server(), work: WorkAtHand(batches, open: report.counts.open))
    }

    /// Nothing was ever put into the queue, as far as Redis knows.
    var isUnknown: Bool { queue.enqueued == 0 && report.workers.isEmpty }

    /// Says that there is no such queue, which is seldom the one that was meant, and names the others.
    var hint: String? {
        guard isUnknown else { return nil }
        let why =
            name.hasPrefix(RunIdentity.prefix)
            ? "its run has not begun, or has ended and removed it" : "nothing was put into it, or it was purged"
        let start = "there is no queue '\(name.printable)': \(why)"
        guard let first = report.others.first else { return start + "." }
        let others = report.others.map { "'\($0.name.printable)'" }.joined(separator: ", ")
        let isOne = report.others.count == 1
        return "\(start). There \(isOne ? "is" : "are") \(others): '--queue \(first.name.printable)' shows \(isOne ? "it" : "the first")."
    }

    /// The time left, or why there is none to tell; `nil` when all jobs have ended.
    var left: String? {
        guard queue.open > 0 else { return nil }
        if queue.isPaused { return "unknown while the queue is paused" }
        if !report.hasLiveWorker { return "no worker is at work; 'gannet work' starts one" }
        return report.remaining.map(Amounts.timeLeft) ?? WaitText.sentence(report.waits, of: queue.open)
    }

    var json: JSONValue {
        [
            "schema": 1,
            "queue": .string(name),
            "paused": .bool(queue.isPaused),
            "jobs": [
                "ready": .integer(queue.ready), "active": .integer(queue.active), "parked": .integer(queue.parked),
                "delayed": .integer(queue.delayed), "dead": .integer(queue.dead),
            ],
            "oldestReadySeconds": .seconds(report.oldestAge),
            "totals": [
                "enqueued": .integer(queue.enqueued), "done": .integer(queue.done), "fetched": .integer(queue.fetched),
                "revalidated": .integer(queue.revalidated), "cached": .integer(queue.cached), "failed": .integer(queue.failed),
                "cancelled": .integer(queue.cancelled), "retried": .integer(queue.retried), "crashed": .integer(queue.crashed),
                "fenced": .integer(queue.fenced), "doubleFetches": .integer(queue.doubleFetches), "bytes": .integer(queue.bytes),
            ],
            "rate": [
                "donePerSecond": .rounded(report.rate?.donePerSecond), "bytesPerSecond": .rounded(report.rate?.bytesPerSecond),
            ],
            "etaSeconds": .seconds(report.remaining),
            "workers": .array(report.sortedWorkers.map(worker)),
            "otherQueues": .array(report.others.map(Self.other)),
            "redis": [
                "version": JSONValue(server.version), "usedMemoryBytes": JSONValue(server.usedMemory),
                "maxMemoryBytes": JSONValue(server.memoryLimit.flatMap { $0 == 0 ? nil : $0 }),
                "pingMilliseconds": .decimal(server.ping / .milliseconds(1)),
            ],
        ]
    }

    private static func other(_ queue: OtherQueue) -> JSONValue {
        ["queue": .string(queue.name), "notEnded": .integer(queue.open), "workers": .integer(queue.workers)]
    }

    private func worker(_ worker: WorkerStatus) -> JSONValue {
        let record = worker.record
        return [
            "id": .string(worker.id), "host": JSONValue(record?.machine), "pid": JSONValue(record?.processID),
            "version": JSONValue(record?.version), "concurrency": JSONValue(record?.concurrency), "active": JSONValue(record?.active),
            "heartbeatSeconds": .seconds(worker.heartbeat(at: report.now)), "state": JSONValue(worker.state(at: report.now)?.rawValue),
        ]
    }
}

extension JSONValue {
    /// To the millisecond.
    fileprivate static func seconds(_ duration: Duration?) -> JSONValue { rounded(duration.map { $0 / .seconds(1) }) }

    fileprivate static func rounded(_ number: Double?) -> JSONValue {
        guard let number else { return .null }
        return .decimal((number * 1000).rounded() / 1000)
    }
}

/// The batches that have not ended, and the ones that were begun after the oldest of these. A queue may live for years, so a percentage
/// of all jobs that it ever had would say nothing about the jobs that wait now.
struct WorkAtHand: Sendable, Equatable {
    var batches = 0
    var ended = 0
    var total = 0

    static let mostBatches = 100

    init() {}

    /// - Parameters:
    ///   - found: The latest batches, as many as are looked at.
    ///   - open: Jobs of the queue that have not ended, so that what is left to do is never less.
    init(_ found: [Batch], open: Int) {
        let oldest = found.filter { $0.ended < $0.total }.compactMap(\.age).max() ?? .zero
        let atHand = found.filter { $0.ended < $0.total || $0.age.map { $0 <= oldest } ?? false }
        batches = atHand.count
        ended = atHand.reduce(0) { $0 + $1.ended }
        total = ended + open
    }

    var share: Double { total > 0 ? min(1, Double(ended) / Double(total)) : 0 }
}
