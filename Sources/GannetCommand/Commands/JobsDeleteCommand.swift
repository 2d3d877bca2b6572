import CommandLineKit
import Gannet

/// `gannet jobs delete`: takes jobs out of a queue.
enum JobsDeleteCommand: Command {
    static let spec = CommandSpec(
        "delete",
        summary: "Delete jobs: they count as cancelled, but for dead ones, which are only forgotten.",
        flags: JobFlags.selecting + [JobsChange.limit.entry, JobFlags.dryRun.entry, Confirmation.yes.entry, CommonFlags.json.entry]
            + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> JobsChange {
        guard try arguments.optional(JobFlags.state) != nil else {
            throw arguments.usageError(
                "Say which jobs to delete: '--state ready', 'parked', 'delayed' or 'dead'.", about: JobFlags.state.entry)
        }
        let query = try JobFlags.query(from: arguments, usual: .dead)
        guard query.state != .active else {
            throw arguments.usageError(
                "Active jobs are in a worker's hands and end there; 'gannet batch cancel' keeps them from being tried again.")
        }
        var options = try JobsChange(arguments, query: query)
        if !options.isDryRun { options.confirmation = try Confirmation(arguments, of: "'jobs delete' loses jobs") }
        return options
    }

    static func run(_ options: JobsChange) async throws(CommandFailure) -> ExitStatus {
        try await options.run("deleted", "Deleted") { (cluster) throws(ClusterError) in
            try await cluster.delete(options.query, limit: options.limit)
        }
    }
}
