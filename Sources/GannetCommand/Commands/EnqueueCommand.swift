import ClusterState
import CommandLineKit
import Gannet

/// `gannet enqueue`: hands URLs to the workers, and returns or waits for their end.
enum EnqueueCommand: Command {
    private static let wait = Toggle("wait", "Wait until the batch is complete. The exit status is 1 when a part of it failed.")

    static let spec = CommandSpec(
        "enqueue",
        summary: "Add URLs to a queue, for workers to fetch.",
        positional: InputOptions.positional,
        flags: InputOptions.flags + SubmissionFlags.flags + [wait.entry, CommonFlags.json.entry] + QueueTarget.flags
    )

    static func options(from arguments: Arguments) throws(UsageError) -> EnqueueOptions {
        EnqueueOptions(
            input: try InputOptions(arguments),
            batch: try arguments.optional(SubmissionFlags.batch),
            submission: try SubmissionFlags.options(from: arguments),
            waits: arguments.isSet(wait),
            json: arguments.isSet(CommonFlags.json),
            target: try QueueTarget(arguments))
    }

    static func run(_ options: EnqueueOptions) async throws(CommandFailure) -> ExitStatus {
        let rows = try Feeding.open(options.input)
        let interruption = try Interruption()
        return try await interruption.watching { () throws(CommandFailure) in
            let access = try await ClusterAccess.open(
                options.target.connection, console: options.target.console, unless: interruption)
            let enqueueing = Enqueueing(options, access.cluster, interruption)
            do throws(CommandFailure) {
                let status = try await enqueueing.course(rows)
                await access.close()
                return status
            } catch {
                await access.close()
                throw error
            }
        }
    }
}

/// The arguments of `gannet enqueue`.
struct EnqueueOptions: Sendable {
    var input: InputOptions
    /// A name of the user's own. Without one an interrupted batch cannot go on.
    var batch: String?
    var submission: BatchOptions
    var waits: Bool
    var json: Bool
    var target: QueueTarget
}
