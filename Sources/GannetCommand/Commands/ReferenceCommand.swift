import CommandLineKit
import GannetBasics

/// `gannet reference`: the page `Docs/COMMANDS.md`, and with `--man` the page `gannet.1`. For the build, so help does not list it.
enum ReferenceCommand: Command {
    private static let man = Toggle("man", "Print a page for 'man'.")

    static let spec = CommandSpec(
        "reference", summary: "Print all commands and options as Markdown.", flags: [man.entry], visibility: .hidden)

    static func options(from arguments: Arguments) throws(UsageError) -> Bool { arguments.isSet(man) }

    static func run(_ isMan: Bool) async throws(CommandFailure) -> ExitStatus {
        let page = ManPage(CommandTable.parser, version: Version.current, seeAlso: ["curl(1)", "redis-server(1)"])
        try Console().print(isMan ? page.text : Reference(CommandTable.parser).text)
        return .done
    }
}
