import ClusterState
import Gannet
import GannetBasics

/// The result of `enqueue`, for people and for scripts.
struct EnqueueReport: Sendable {
    let queue: String
    let batch: String
    let summary: EnqueueSummary
    /// The batch had been begun before.
    let isResumed: Bool
    /// The batch at its end, where the command waited for that.
    let outcome: Batch?

    var text: String {
        let accepted =
            "Accepted \(Amounts.count(summary.accepted, "URL")); \(summary.invalid) invalid."
            + (summary.accepted > 0 ? " Batch: \(batch)" : "")
        guard let outcome else { return accepted }
        return accepted + "\n" + BatchReport(queue: queue, batch: outcome).outcome + "."
    }

    var json: JSONValue {
        [
            "schema": 1, "queue": .string(queue), "batch": summary.accepted > 0 ? .string(batch) : .null,
            "accepted": .integer(summary.accepted),
            "invalid": .integer(summary.invalid), "resumed": .bool(isResumed),
            "complaints": .array(summary.complaints.map { ["place": .string("\($0.place)"), "reason": .string($0.reason)] }),
            "outcome": outcome.map { .object(BatchReport(queue: queue, batch: $0).members) } ?? .null,
        ]
    }

    var status: ExitStatus {
        guard summary.invalid == 0 else { return .someFailed }
        return outcome.map { BatchReport(queue: queue, batch: $0).status } ?? .done
    }
}
