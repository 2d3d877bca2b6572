import ClusterState
import CommandLineKit
import Gannet

/// `gannet pause`: workers finish their jobs and claim no more.
enum PauseCommand: Command {
    static let spec = CommandSpec(
        "pause", summary: "Pause a queue: its jobs wait until 'resume', and requests in flight are finished.", flags: QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> QueueTarget { try QueueTarget(arguments) }

    static func run(_ target: QueueTarget) async throws(CommandFailure) -> ExitStatus {
        try await target.withCluster { (cluster) throws(CommandFailure) in
            let was = try await CommandFailure.wrapping { try await cluster.queue(target.queue).pause() }
            let name = "queue '\(target.queue)'"
            try target.console.print(was ? "The \(name) was paused already." : "Paused the \(name); 'gannet resume' lets it go on.")
            return .done
        }
    }
}
