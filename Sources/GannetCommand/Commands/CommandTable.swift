import CommandLineKit

/// Every command there is, or will be.
enum CommandTable {
    static let parser = CommandLineParser(root: root, environmentPrefix: "GANNET_")

    private static let commands: [any Command.Type] = [
        RunCommand.self, EnqueueCommand.self, WorkCommand.self, GetCommand.self, ExportCommand.self, StatusCommand.self, PauseCommand.self,
        ResumeCommand.self,
        PurgeCommand.self, HealthCommand.self, ExplainCommand.self, DoctorCommand.self, DemoCommand.self,
        CompletionsCommand.self, ReferenceCommand.self,
    ]
    private static let groups = [
        CommandGroup(
            "batch", "Look at what was enqueued together, wait for it, or cancel it.",
            [BatchListCommand.self, BatchShowCommand.self, BatchWaitCommand.self, BatchCancelCommand.self]),
        CommandGroup(
            "jobs", "Look at jobs, put given-up ones back in line, or delete them.",
            [JobsListCommand.self, JobsRetryCommand.self, JobsDeleteCommand.self]),
        CommandGroup(
            "redis", "Start or stop the private Redis, which commands use when '--redis' is not given.",
            [PrivateRedisStartCommand.self, PrivateRedisStopCommand.self, PrivateRedisSuperviseCommand.self]),
    ]
    private static let later = ["bench"]

    private static let root = CommandSpec(
        "gannet",
        summary: "Fetch lists of URLs with a fleet of workers, each URL once.",
        // Those that make sense before a command's name; each command lists the ones it follows.
        flags: CommonFlags.everywhere + ConnectionOptions.flags + [QueueOption.name.entry],
        subcommands: commands.map { $0.spec } + groups.map(\.spec) + later.map(CommandSpec.later),
        notes: [HelpNote("EXIT STATUS", ExitStatus.allCases.map { ("\($0.rawValue)", $0.meaning) })]
    )

    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        let group = groups.first { $0.name == arguments.path.dropFirst().first }
        let candidates = group?.commands ?? commands
        guard let command = candidates.first(where: { $0.spec.name == arguments.path.last }) else {
            throw CommandFailure(.defect, "The command '\(arguments.path.joined(separator: " "))' is listed but not built in.")
        }
        return try await command.run(arguments)
    }
}
