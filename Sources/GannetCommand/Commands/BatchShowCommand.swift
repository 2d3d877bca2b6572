import ClusterState
import CommandLineKit
import Gannet
import GannetBasics

/// `gannet batch show ID`: the progress and totals of a batch.
enum BatchShowCommand: Command {
    static let spec = CommandSpec(
        "show", summary: "Show a batch: its totals, its progress, its state.", positional: BatchArgument.positional,
        flags: [CommonFlags.json.entry] + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> BatchShowOptions {
        BatchShowOptions(
            batch: arguments.single, json: arguments.isSet(CommonFlags.json), target: try QueueTarget(arguments))
    }

    static func run(_ options: BatchShowOptions) async throws(CommandFailure) -> ExitStatus {
        let target = options.target
        return try await target.withCluster { (cluster) throws(CommandFailure) in
            let found = try await CommandFailure.wrapping { try await cluster.queue(target.queue).batch(named: options.batch) }
            guard let found else { throw BatchArgument.unknown(options.batch, target.queue) }
            let report = BatchReport(queue: target.queue, batch: found)
            try target.console.print(options.json ? report.json.text : report.text)
            return .done
        }
    }
}

/// The arguments of `gannet batch show`.
struct BatchShowOptions: Sendable {
    var batch: String
    var json: Bool
    var target: QueueTarget
}
