import ClusterState
import CommandLineKit
import Gannet

/// `gannet purge`: empties a queue.
enum PurgeCommand: Command {
    static let spec = CommandSpec(
        "purge",
        summary: "Remove everything in a queue: its jobs in every state, its batches and its totals.",
        discussion: "Requests in flight are finished and not counted. Bodies, and the outcomes of URLs, stay.",
        flags: [Confirmation.yes.entry] + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> PurgeOptions {
        PurgeOptions(target: try QueueTarget(arguments), confirmation: try Confirmation(arguments, of: "'purge' empties a queue"))
    }

    static func run(_ options: PurgeOptions) async throws(CommandFailure) -> ExitStatus {
        let queue = options.target.queue
        let console = options.target.console
        return try await options.target.withCluster { (cluster) throws(CommandFailure) in
            let status = try await CommandFailure.wrapping { try await cluster.queue(queue).counts() }
            let open = status.open
            let content =
                "\(Amounts.count(open, "job")) that \(open == 1 ? "has" : "have") not ended, \(status.dead) dead, and the totals"
            guard options.confirmation.ask("Remove everything in the queue '\(queue)': \(content)?", console) else { return .done }
            try await CommandFailure.wrapping { try await cluster.queue(queue).purge() }
            try console.print("Removed from the queue '\(queue)': \(content).")
            return .done
        }
    }
}

/// The arguments of `gannet purge`.
struct PurgeOptions: Sendable {
    var target: QueueTarget
    var confirmation: Confirmation
}
