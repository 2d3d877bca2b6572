import Gannet

/// What a run came to, in one line. Totals are the whole list's, also where an interrupted run had done a part of it.
struct RunSummary: Sendable {
    let status: QueueStatus
    /// By the interrupted run that this one went on with.
    let fetchedBefore: Int
    let input: EnqueueSummary
    /// This run's own.
    let time: Duration

    var text: String {
        let before = fetchedBefore > 0 ? " (\(fetchedBefore) of them before the interruption)" : ""
        var parts = ["\(Amounts.count(status.fetched, "URL")) fetched\(before)", "\(status.failed) failed"]
        if status.cached > 0 { parts.append("\(status.cached) listed more than once") }
        if input.invalid > 0 { parts.append("\(input.invalid) invalid") }
        return parts.joined(separator: ", ") + "; \(Amounts.bytes(status.bytes)) in \(Amounts.time(time))"
    }
}
