import CommandLineKit
import Gannet

/// `gannet pause`: workers finish what they have and claim nothing more.
enum PauseCommand: Command {
    static let spec = CommandSpec(
        "pause", summary: "Let a queue's jobs wait until 'resume'. What is in flight is finished.", flags: QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> QueueTarget { try QueueTarget(arguments) }

    static func run(_ target: QueueTarget) async throws(CommandFailure) -> ExitStatus {
        try await target.withCluster { (cluster) throws(CommandFailure) in
            let was = try await CommandFailure.wrapping { () throws(ClusterError) in try await cluster.pause(queue: target.queue) }
            let name = "queue '\(target.queue)'"
            try target.console.print(was ? "The \(name) was paused already." : "Paused the \(name); 'gannet resume' lets it go on.")
            return .done
        }
    }
}
