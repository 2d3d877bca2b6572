import CommandLineKit
import Gannet

/// `gannet batch cancel ID`: ends what waits of one submission.
enum BatchCancelCommand: Command {
    static let spec = CommandSpec(
        "cancel",
        summary: "Cancel a batch: what waits of it ends now.",
        discussion: "What is being fetched of it is finished, and not tried again. Nothing can be added to it any more.",
        positional: BatchArgument.positional, flags: [CommonFlags.json.entry] + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> BatchShowOptions {
        try BatchShowCommand.options(from: arguments)
    }

    static func run(_ options: BatchShowOptions) async throws(CommandFailure) -> ExitStatus {
        let target = options.target
        return try await target.withCluster { (cluster) throws(CommandFailure) in
            let answer = try await CommandFailure.wrapping { () throws(ClusterError) in
                (try await cluster.cancel(batch: options.batch, of: target.queue), try await cluster.batch(options.batch, of: target.queue))
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
