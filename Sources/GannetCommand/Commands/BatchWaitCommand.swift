import ClusterState
import CommandLineKit
import Gannet
import GannetBasics

/// `gannet batch wait ID`: returns when all jobs of a batch have ended.
enum BatchWaitCommand: Command {
    private static let timeout = Flag(
        "timeout", .duration(in: .milliseconds(1)...(.seconds(365 * 86_400))),
        "How long to wait at most. After that time the exit status is 75.")

    static let spec = CommandSpec(
        "wait",
        summary: "Wait until a batch is complete.",
        discussion: "The exit status is 0 when all of it was done, 1 when a part failed or was cancelled, and 75 when the time was up.",
        positional: BatchArgument.positional, flags: [timeout.entry, CommonFlags.json.entry] + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> BatchWaitOptions {
        BatchWaitOptions(show: try BatchShowCommand.options(from: arguments), timeout: try arguments.optional(timeout))
    }

    static func run(_ options: BatchWaitOptions) async throws(CommandFailure) -> ExitStatus {
        let target = options.show.target
        let interruption = try Interruption()
        return try await interruption.watching { () throws(CommandFailure) in
            let access = try await ClusterAccess.open(target.connection, console: target.console, unless: interruption)
            let wait = BatchWait(batch: options.show.batch, queue: access.cluster.queue(target.queue), console: target.console)
            let outcome = await interruption.cancelling { try await wait.run(atMost: options.timeout) }
            await access.close()
            guard let batch = try outcome.get(unlessInterrupted: interruption) else { return interruption.status }
            let report = BatchReport(queue: target.queue, batch: batch)
            let status = try target.console.print(
                options.show.json ? report.json.text : report.outcome + ".", last: batch.isComplete ? report.status : .timedOut)
            if !batch.isComplete {
                target.console.error("The batch was not complete in time: \(batch.total - batch.ended) of \(batch.total) have not ended.")
            }
            return status
        }
    }
}

/// The arguments of `gannet batch wait`.
struct BatchWaitOptions: Sendable {
    var show: BatchShowOptions
    var timeout: Duration?
}
