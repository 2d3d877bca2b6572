import CommandLineKit

/// Commands under one word: `gannet batch list`, `gannet batch show`.
struct CommandGroup: Sendable {
    let name: String
    let commands: [any Command.Type]
    private let summary: String

    init(_ name: String, _ summary: String, _ commands: [any Command.Type]) {
        self.name = name
        self.summary = summary
        self.commands = commands
    }

    var spec: CommandSpec { CommandSpec(name, summary: summary, subcommands: commands.map { $0.spec }) }
}
