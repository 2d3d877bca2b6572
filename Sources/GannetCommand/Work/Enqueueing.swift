import ClusterState
import Gannet
import GannetBasics

/// `gannet enqueue` at work: feeds a batch, prints the result, and waits for its end with `--wait`.
struct Enqueueing: Sendable {
    private let options: EnqueueOptions
    private let batch: String
    private let cluster: ClusterState
    private let interruption: Interruption

    private var queue: String { options.target.queue }
    private var console: Console { options.target.console }

    init(_ options: EnqueueOptions, _ cluster: ClusterState, _ interruption: Interruption) {
        self.options = options
        self.cluster = cluster
        self.interruption = interruption
        batch = options.batch ?? String(UInt64.random(in: .min ... .max), radix: 36)
    }

    func course(_ rows: InputRows?) async throws(CommandFailure) -> ExitStatus {
        let fed = await interruption.cancelling { try await feed(rows) }
        if options.batch == nil, fed.value == nil {
            // This batch has no name to go on with, so it is complete as it is.
            await interruption.cleaningUp { try await cluster.queue(queue).close(batch: batch) }
        }
        guard let (summary, isResumed) = try fed.get(unlessInterrupted: interruption) else {
            console.note(
                options.batch == nil
                    ? "interrupted: the accepted URLs stay in the queue, and the rest was not enqueued."
                    : "interrupted: the accepted URLs stay in the queue, and the same command goes on where it stopped.")
            return interruption.status
        }
        Feeding.complain(about: summary, console)
        let report = { (outcome: Batch?) in
            EnqueueReport(queue: queue, batch: batch, summary: summary, isResumed: isResumed, outcome: outcome)
        }
        guard summary.accepted > 0 else {
            try show(report(nil))
            throw CommandFailure(.noUsableInput, "The input holds no URL that can be fetched.")
        }
        guard options.waits else {
            try show(report(nil))
            return report(nil).status
        }
        let wait = BatchWait(batch: batch, queue: cluster.queue(queue), console: console)
        let waited = await interruption.cancelling { try await wait.run() }
        guard let outcome = try waited.get(unlessInterrupted: interruption) else {
            try show(report(nil))
            console.note("interrupted: the batch stays in the queue; 'gannet batch wait \(batch)' waits for it.")
            return interruption.status
        }
        try show(report(outcome))
        return report(outcome).status
    }

    /// Throws ``StateError`` or ``CommandFailure``.
    private func feed(_ rows: InputRows?) async throws -> (EnqueueSummary, isResumed: Bool) {
        let source = options.batch == nil ? "" : options.input.fingerprint ?? "standard input"
        let producer = try await Producer(cluster.queue(queue), batch: batch, from: source, options: options.submission)
        guard producer.origin == source else {
            throw CommandFailure(
                .wrongUsage,
                "The batch '\(batch)' was begun with another input, or its file has changed since; enqueue this one under another name.")
        }
        let before = producer.acceptedBefore
        if before > 0 {
            console.note("going on with the batch '\(batch)': \(Amounts.count(before, "URL")) had been accepted before.")
        }
        return (try await Feeding.feed(options.input, rows, into: producer), before > 0)
    }

    private func show(_ report: EnqueueReport) throws(CommandFailure) {
        try console.print(options.json ? report.json.text : report.text)
    }
}
