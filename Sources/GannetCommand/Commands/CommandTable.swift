/// Every command there is. The types are written out, because some commands refer back to this table.
enum CommandTable {
    static let parser: CommandLineParser = CommandLineParser(root: root, environmentPrefix: "GANNET_", habits: .ofOtherTools)

    private static let root: CommandSpec = CommandSpec(
        "gannet",
        summary: "Fetch lists of URLs with a fleet of workers, each URL once.",
        // Options that make sense before a command's name. Each command lists the ones that it takes.
        flags: CommonFlags.everywhere + ConnectionOptions.flags + [QueueOption.name.entry],
        subcommands: [
            RunCommand.spec, EnqueueCommand.spec, WorkCommand.spec, ServeCommand.spec, GetCommand.spec, ThumbnailCommand.spec,
            ExportCommand.spec, DiffCommand.spec, StatusCommand.spec, QueueCommands.queues, QueueCommands.pause, QueueCommands.resume,
            QueueCommands.purge, ProgramCommands.health, ExplainCommand.spec, QueueCommands.doctor, Demo.spec, ConfigCommand.spec,
            ProgramCommands.completions, ProgramCommands.reference, BatchCommands.group, JobsCommands.group, HostsCommands.group,
            WorkersCommands.group, ProgramCommands.redis,
        ],
        notes: [HelpNote("EXIT STATUS", ExitStatus.allCases.map { ("\($0.rawValue)", $0.meaning) })]
    )
}
