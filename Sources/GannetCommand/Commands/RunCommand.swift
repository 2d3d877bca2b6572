import CommandLineKit

/// `gannet run`: the whole thing in one process.
enum RunCommand: Command {
    private static let directory = Flag(
        "dir", short: "d", .folder(), isRequired: true, "The folder that receives the bodies; made when missing.")
    private static let later = [
        "batch", "priority", "delay", "max-age", "refresh", "header", "host-limit", "host-rate", "retries", "proxy", "cache-limit",
        "listen", "drain-timeout", "give-up-after", "max-failures", "json", "log-format",
    ]

    static let spec = CommandSpec(
        "run",
        summary: "Fetch URLs into a folder: enqueue, work and sum up in one process.",
        positional: InputOptions.positional,
        flags: InputOptions.flags + [directory.entry] + FetchOptions.flags + ConnectionOptions.flags + CommonFlags.everywhere
            + later.map(FlagEntry.later)
    )

    static func options(from arguments: Arguments) throws(UsageError) -> RunOptions {
        RunOptions(
            input: try InputOptions(arguments),
            directory: try arguments.require(directory),
            fetch: try FetchOptions(arguments),
            connection: try ConnectionOptions(arguments),
            verbosity: try Verbosity(arguments))
    }

    static func run(_ options: RunOptions) async throws(CommandFailure) -> ExitStatus {
        throw CommandFailure(.defect, "'gannet run' is not wired yet.")
    }
}

/// What `gannet run` was asked to do.
struct RunOptions: Sendable {
    var input: InputOptions
    /// Where bodies go.
    var directory: String
    var fetch: FetchOptions
    var connection: ConnectionOptions
    var verbosity: Verbosity
}
