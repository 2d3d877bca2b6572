import ClusterState
import GannetBasics

/// A queue's status for scripts. The names are a contract; what is unknown is `null`.
struct StatusReport: Sendable {
    let name: String
    let report: QueueOverview
    let server: ServerStatus

    var queue: QueueCounts { report.counts }

    /// Where to look instead: a queue that nothing was ever put into is seldom the one that was meant.
    var hint: String? {
        guard queue.enqueued == 0, report.workers.isEmpty, let first = report.others.first else { return nil }
        let others = report.others.map { "'\($0.name.printable)'" }.joined(separator: ", ")
        return "the queue '\(name.printable)' is empty; \(report.others.count == 1 ? "there is" : "there are") also \(others): "
            + "'--queue \(first.name.printable)' shows \(report.others.count == 1 ? "it" : "the first")."
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
