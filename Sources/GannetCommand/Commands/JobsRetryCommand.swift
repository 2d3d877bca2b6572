import ClusterState
import CommandLineKit
import Gannet

/// `gannet jobs retry`: dead jobs are tried again, and delayed ones now.
enum JobsRetryCommand: Command {
    static let spec = CommandSpec(
        "retry",
        summary: "Try dead jobs again, or delayed ones now.",
        discussion: "Each job has all its attempts again, and counts as failed no longer. "
            + "Nothing is lost by it, so it does not ask; '--yes' is accepted.",
        flags: [JobFlags.retriedState.entry] + JobFlags.selecting + JobsChange.flags + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> JobsChange {
        try JobsChange(arguments, query: JobFlags.query(from: arguments, JobFlags.retriedState))
    }

    static func run(_ options: JobsChange) async throws(CommandFailure) -> ExitStatus {
        let verb = options.query.state == .delayed ? "To be tried now" : "To be tried again"
        return try await options.run("retried", verb) { queue in
            try await queue.retry(options.query, limit: options.limit)
        }
    }
}
