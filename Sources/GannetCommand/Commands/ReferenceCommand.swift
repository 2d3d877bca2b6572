import CommandLineKit

/// `gannet reference`: the page `Docs/COMMANDS.md`. Not for people.
enum ReferenceCommand: Command {
    static let spec = CommandSpec("reference", summary: "Print all commands and options as Markdown.", visibility: .hidden)

    static func options(from arguments: Arguments) throws(UsageError) {}

    static func run(_ options: Void) async throws(CommandFailure) -> ExitStatus {
        try Console().print(Reference(CommandTable.parser).text)
        return .done
    }
}
