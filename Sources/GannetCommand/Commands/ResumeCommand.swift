import CommandLineKit
import Gannet

/// `gannet resume`: takes `gannet pause` back.
enum ResumeCommand: Command {
    static let spec = CommandSpec("resume", summary: "Let a paused queue go on.", flags: QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> QueueTarget { try QueueTarget(arguments) }

    static func run(_ target: QueueTarget) async throws(CommandFailure) -> ExitStatus {
        try await target.withCluster { (cluster) throws(CommandFailure) in
            let was = try await CommandFailure.wrapping { () throws(ClusterError) in try await cluster.resume(queue: target.queue) }
            try target.console.print(was ? "The queue '\(target.queue)' goes on." : "The queue '\(target.queue)' was not paused.")
            return .done
        }
    }
}
