import ClusterState
import CommandLineKit
import Gannet

/// `gannet resume`: undoes `gannet pause`.
enum ResumeCommand: Command {
    static let spec = CommandSpec("resume", summary: "Let a paused queue go on.", flags: QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> QueueTarget { try QueueTarget(arguments) }

    static func run(_ target: QueueTarget) async throws(CommandFailure) -> ExitStatus {
        try await target.withCluster { (cluster) throws(CommandFailure) in
            let was = try await CommandFailure.wrapping { try await cluster.queue(target.queue).resume() }
            try target.console.print(was ? "The queue '\(target.queue)' goes on." : "The queue '\(target.queue)' was not paused.")
            return .done
        }
    }
}
