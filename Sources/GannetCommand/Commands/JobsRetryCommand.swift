import CommandLineKit
import Gannet

/// `gannet jobs retry`: what was given up is tried again, what is put off is tried now.
enum JobsRetryCommand: Command {
    static let spec = CommandSpec(
        "retry",
        summary: "Put dead jobs back in line, or make delayed ones due now.",
        discussion: "Each has all its attempts again, and counts as failed no longer. "
            + "Nothing is lost by it, so it does not ask; '--yes' is accepted.",
        flags: [JobFlags.retriedState.entry] + JobFlags.selecting + JobsChange.flags + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> JobsChange {
        try JobsChange(arguments, query: JobFlags.query(from: arguments, JobFlags.retriedState))
    }

    static func run(_ options: JobsChange) async throws(CommandFailure) -> ExitStatus {
        let verb = options.query.state == .delayed ? "Made due now" : "Put back in line"
        return try await options.run("retried", verb) { (cluster) throws(ClusterError) in
            try await cluster.retry(options.query, limit: options.limit)
        }
    }
}
