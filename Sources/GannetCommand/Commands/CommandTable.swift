/// One command: its row in the table, its arguments as values, and its work.
protocol Command: Sendable {
    static var spec: CommandSpec { get }
    init(_ arguments: Arguments) throws
    func run() async throws -> ExitStatus
    /// The command that these arguments mean. It is another one where an option asks for other work.
    static func chosen(by arguments: Arguments) throws -> any Command
}

extension Command {
    static func chosen(by arguments: Arguments) throws -> any Command { try Self(arguments) }
}

/// Commands under one word: `gannet batch list`, `gannet batch show`.
struct CommandGroup: Sendable {
    let name: String
    let summary: String
    let commands: [any Command.Type]
    let examples: [Example]

    init(_ name: String, _ summary: String, _ commands: [any Command.Type], examples: [Example]) {
        self.name = name
        self.summary = summary
        self.commands = commands
        self.examples = examples
    }

    var spec: CommandSpec { CommandSpec(name, summary: summary, subcommands: commands.map { $0.spec }, examples: examples) }
}

/// Every command there is.
enum CommandTable {
    static let parser = CommandLineParser(root: root, environmentPrefix: "GANNET_", habits: .ofOtherTools)

    private static let commands: [any Command.Type] = [
        RunCommand.self, EnqueueCommand.self, WorkCommand.self, ServeCommand.self, GetCommand.self, ThumbnailCommand.self,
        ExportCommand.self, DiffCommand.self, StatusCommand.self, QueuesCommand.self,
        PauseCommand.self,
        ResumeCommand.self,
        PurgeCommand.self, HealthCommand.self, ExplainCommand.self, DoctorCommand.self, DemoCommand.self,
        ConfigCommand.self, CompletionsCommand.self, ReferenceCommand.self,
    ]
    private static let groups = [
        CommandGroup(
            "batch", "Look at URLs that were enqueued together, wait for them, release their bodies, or cancel them.",
            [BatchListCommand.self, BatchShowCommand.self, BatchWaitCommand.self, BatchReleaseCommand.self, BatchCancelCommand.self],
            examples: [
                Example("gannet batch list", "Lists the batches of the queue 'default', the latest first."),
                Example("gannet batch wait monday --timeout 1h", "Waits for the batch 'monday', for an hour at most."),
            ]),
        CommandGroup(
            "jobs", "Look at jobs, try dead ones again, or delete them.",
            [JobsListCommand.self, JobsRetryCommand.self, JobsDeleteCommand.self],
            examples: [
                Example("gannet jobs list --state dead", "Lists the jobs that have failed, with their reasons."),
                Example("gannet jobs retry --class timeout", "Tries all jobs again that have timed out."),
            ]),
        CommandGroup(
            "hosts", "Limit, slow down or pause a host for all workers.",
            [HostsListCommand.self, HostsSetCommand.self, HostsClearCommand.self],
            examples: [
                Example("gannet hosts set example.com --limit 2", "Gives a host two requests at once, whatever workers are told."),
                Example("gannet hosts clear example.com", "Leaves the host to the options of workers again."),
            ]),
        CommandGroup(
            "workers", "Look at the workers of a queue, or let them finish their jobs and end.",
            [WorkersListCommand.self, WorkersDrainCommand.self],
            examples: [
                Example("gannet workers list", "Lists the workers of the queue 'default'."),
                Example("gannet workers drain --all", "Lets all of them finish their jobs and end, and waits for that."),
            ]),
        CommandGroup(
            "redis", "Stop the private Redis, which commands start and use without '--redis'.",
            [PrivateRedisStopCommand.self, PrivateRedisKeepCommand.self],
            examples: [Example("gannet redis stop", "Stops the private Redis, if it runs.")]),
    ]

    private static let root = CommandSpec(
        "gannet",
        summary: "Fetch lists of URLs with a fleet of workers, each URL once.",
        // Options that make sense before a command's name. Each command lists the ones that it takes.
        flags: CommonFlags.everywhere + ConnectionOptions.flags + [QueueOption.name.entry],
        subcommands: commands.map { $0.spec } + groups.map(\.spec),
        notes: [HelpNote("EXIT STATUS", ExitStatus.allCases.map { ("\($0.rawValue)", $0.meaning) })]
    )

    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        let group = groups.first { $0.name == arguments.path.dropFirst().first }
        let candidates = group?.commands ?? commands
        guard let command = candidates.first(where: { $0.spec.name == arguments.path.last }) else {
            throw CommandFailure(.defect, "The command '\(arguments.path.joined(separator: " "))' is listed but not built in.")
        }
        return try await command.chosen(by: arguments).run()
    }
}
