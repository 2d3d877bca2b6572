import CommandLineKit

/// `gannet enqueue`: hands URLs to the workers and returns.
enum EnqueueCommand: Command {
    private static let later = [
        "batch", "priority", "delay", "max-age", "refresh", "header", "wait", "json", "log-format",
    ]

    static let spec = CommandSpec(
        "enqueue",
        summary: "Add URLs to a queue, for workers to fetch.",
        positional: InputOptions.positional,
        flags: InputOptions.flags + ConnectionOptions.flags + CommonFlags.everywhere + later.map(FlagEntry.later)
    )

    static func options(from arguments: Arguments) throws(UsageError) -> EnqueueOptions {
        EnqueueOptions(
            input: try InputOptions(arguments),
            connection: try ConnectionOptions(arguments),
            verbosity: try Verbosity(arguments))
    }

    static func run(_ options: EnqueueOptions) async throws(CommandFailure) -> ExitStatus {
        throw CommandFailure(.defect, "'gannet enqueue' is not wired yet.")
    }
}

/// What `gannet enqueue` was asked to do.
struct EnqueueOptions: Sendable {
    var input: InputOptions
    var connection: ConnectionOptions
    var verbosity: Verbosity
}
