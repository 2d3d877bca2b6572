import GannetBase

/// `gannet completions`: prints a script that teaches a shell the commands and options.
struct CompletionsCommand: Command {
    private static let shells = CompletionShell.allCases.map(\.rawValue)

    static let spec = CommandSpec(
        "completions",
        summary: "Print a script that completes commands and options in a shell.",
        discussion: """
            bash: source <(gannet completions bash)
            zsh: source <(gannet completions zsh), behind compinit
            fish: gannet completions fish | source
            """,
        positional: Positional("shell", completion: .choices(shells), isSingle: true, "bash, zsh or fish."),
        flags: CommonFlags.everywhere,
        examples: [
            Example("source <(gannet completions bash)", "Completes gannet's commands in this shell.")
        ])

    private let shell: CompletionShell

    init(_ arguments: Arguments) throws {
        guard let shell = CompletionShell(rawValue: arguments.single) else {
            let names = Sentence.alternatives(Self.shells.map { "'\($0)'" })
            throw arguments.usageError("There are completions for \(names).")
        }
        self.shell = shell
    }

    func run() async throws -> ExitStatus {
        try Console().print(shell.script(for: CommandTable.parser.root))
        return .done
    }
}

/// `gannet reference`: the page `Docs/COMMANDS.md`, and with `--man` the page `gannet.1`. For the build, so help does not list it.
struct ReferenceCommand: Command {
    private static let man = Toggle("man", "Print a page for 'man'.")

    static let spec = CommandSpec(
        "reference", summary: "Print all commands and options as Markdown.", flags: [man.entry], visibility: .hidden)

    private let isMan: Bool

    init(_ arguments: Arguments) throws { isMan = arguments.isSet(Self.man) }

    func run() async throws -> ExitStatus {
        let page = ManPage(CommandTable.parser, version: Version.current, seeAlso: ["curl(1)", "redis-server(1)"])
        try Console().print(isMan ? page.text : Reference(CommandTable.parser).text)
        return .done
    }
}
