import ClusterState
import CommandLineKit
import Gannet

/// `gannet jobs delete`: takes jobs out of a queue.
enum JobsDeleteCommand: Command {
    static let spec = CommandSpec(
        "delete",
        summary: "Delete jobs. They count as cancelled; dead ones still count as failed.",
        discussion: "Active jobs are with a worker and end there; 'batch cancel' keeps them from being tried again.",
        flags: [JobFlags.deletedState.entry] + JobFlags.selecting + JobsChange.flags + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> JobsChange {
        var options = try JobsChange(arguments, query: JobFlags.query(from: arguments, JobFlags.deletedState))
        if !options.isDryRun { options.confirmation = try Confirmation(arguments, of: "'jobs delete' loses jobs") }
        return options
    }

    static func run(_ options: JobsChange) async throws(CommandFailure) -> ExitStatus {
        try await options.run("deleted", "Deleted") { queue in
            try await queue.delete(options.query, limit: options.limit)
        }
    }
}
