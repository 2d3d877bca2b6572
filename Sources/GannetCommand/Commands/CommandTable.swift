import CommandLineKit

/// Every command there is, or will be.
enum CommandTable {
    static let parser = CommandLineParser(root: root, environmentPrefix: "GANNET_")

    private static let commands: [any Command.Type] = [
        RunCommand.self, EnqueueCommand.self, WorkCommand.self, StatusCommand.self,
    ]
    private static let later = [
        "get", "explain", "jobs", "batch", "export", "pause", "resume", "purge", "doctor", "demo", "bench",
    ]

    private static let root = CommandSpec(
        "gannet",
        summary: "Fetch lists of URLs with a fleet of workers, each URL once.",
        // Those that make sense before a command's name; each command lists the ones it follows.
        flags: CommonFlags.everywhere + ConnectionOptions.flags,
        subcommands: commands.map { $0.spec } + later.map(CommandSpec.later)
    )

    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        guard let command = commands.first(where: { $0.spec.name == arguments.path.last }) else {
            throw CommandFailure(.defect, "The command '\(arguments.path.joined(separator: " "))' is listed but not built in.")
        }
        return try await command.run(arguments)
    }
}
