import CommandLineKit

/// `gannet completions`: what a shell needs to complete the others.
enum CompletionsCommand: Command {
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
        flags: CommonFlags.everywhere
    )

    static func options(from arguments: Arguments) throws(UsageError) -> CompletionShell {
        guard let shell = CompletionShell(rawValue: arguments.single) else {
            let names = Sentence.alternatives(shells.map { "'\($0)'" })
            throw arguments.usageError("There are completions for \(names).")
        }
        return shell
    }

    static func run(_ shell: CompletionShell) async throws(CommandFailure) -> ExitStatus {
        try Console().print(shell.script(for: CommandTable.parser.root))
        return .done
    }
}
