import ClusterState
import CommandLineKit
import Gannet
import GannetBasics

/// `gannet batch cancel ID`: ends the waiting jobs of a batch.
enum BatchCancelCommand: Command {
    static let spec = CommandSpec(
        "cancel",
        summary: "Cancel a batch: its waiting jobs end now.",
        discussion: "Requests in flight are finished, and not tried again. Nothing can be added to the batch any more.",
        positional: BatchArgument.positional, flags: [CommonFlags.json.entry] + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> BatchShowOptions {
        try BatchShowCommand.options(from: arguments)
    }

    static func run(_ options: BatchShowOptions) async throws(CommandFailure) -> ExitStatus {
        let target = options.target
        return try await target.withCluster { (cluster) throws(CommandFailure) in
            let answer = try await CommandFailure.wrapping {
                let queue = cluster.queue(target.queue)
                return (try await queue.cancel(batch: options.batch) as Int?, try await queue.batch(named: options.batch))
            }
            guard case (let ended?, let batch?) = answer else { throw BatchArgument.unknown(options.batch, target.queue) }
            let report = BatchReport(queue: target.queue, batch: batch)
            if options.json {
                try target.console.print(report.json.text)
            } else if ended == 0 {
                try target.console.print("Nothing of the batch was waiting: \(report.outcome).")
            } else {
                let rest = batch.active > 0 ? "; \(batch.active) in flight will be finished" : ""
                try target.console.print("Cancelled \(Amounts.count(ended, "job"))\(rest).")
            }
            return .done
        }
    }
}
