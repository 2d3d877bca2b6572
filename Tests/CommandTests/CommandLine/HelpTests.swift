import Testing

@testable import GannetCommand

@Suite struct HelpTests {
    private static let parser = CommandLineParser(
        root: CommandSpec(
            "tool", summary: "A tool.",
            subcommands: [
                CommandSpec(
                    "run", summary: "Runs things.", positional: Positional("url", "What to run."),
                    flags: [
                        Flag("input", short: "i", .file(), "A file whose explanation is long enough that it needs a second line.").entry,
                        Flag("connect-timeout", .duration(in: .zero...(.seconds(9))), default: "8s", section: .fetching, "A limit.").entry,
                        FlagEntry.refused("secret-door"),
                    ]),
                CommandSpec("spy", summary: "Unlisted.", isHidden: true),
            ]),
        environmentPrefix: "TOOL_")

    @Test(arguments: [0, 4]) func `a word that is longer than a line has a line of its own`(indent: Int) {
        let long = String(repeating: "x", count: 30)
        let lines = [long, "a", long].map { String(repeating: " ", count: indent) + $0 }
        #expect(HelpText.wrapped("\(long) a \(long)", indent: indent, width: 20) == lines.joined(separator: "\n"))
    }

    @Test("Help lists a command's arguments and options, and neither what is hidden nor what is to come")
    func commandHelp() {
        #expect(
            Self.parser.help(for: ["run"]) == """
                OVERVIEW: Runs things.

                USAGE: tool run [<options>] [<url> ...]

                ARGUMENTS:
                  <url>                   What to run.

                OPTIONS:
                  -i, --input <file>      A file whose explanation is long enough that it needs
                                          a second line.

                FETCH OPTIONS:
                  --connect-timeout <time>
                                          A limit. (default: 8s)

                GENERAL OPTIONS:
                  -v, --version           Show the version.
                  -h, --help              Show help information.

                Every option has an environment variable, such as TOOL_INPUT for '--input'; the
                option wins.
                """)
    }

    @Test("The program's help lists its commands")
    func rootHelp() throws {
        let help = try #require(Self.parser.help(for: []))
        #expect(help.contains("SUBCOMMANDS:\n  run                     Runs things.\n"))
        #expect(!help.contains("spy") && !help.contains("door"))
    }

    @Test(
        "Help is given wherever it is asked for, even beside a mistake",
        arguments: [
            ["run", "--help"], ["run", "-h"], ["help", "run"], ["run", "--nonsense", "--help"], ["run", "--typo", "3", "-h"],
        ])
    func helpAnywhere(words: [String]) throws {
        guard case .help(let text) = try Self.parser.parse(words, environment: [:]) else {
            Issue.record("no help")
            return
        }
        #expect(text == Self.parser.help(for: ["run"]))
    }

    @Test("A program or a group without a command gets its help")
    func helpForNothing() throws {
        guard case .help(let text) = try Self.parser.parse([], environment: [:]) else {
            Issue.record("no help")
            return
        }
        #expect(text == Self.parser.help(for: []))
    }

    @Test(
        "The version is given wherever it is asked for",
        arguments: [["--version"], ["run", "--version"], ["-v"], ["run", "-v"], ["version"]])
    func version(words: [String]) throws {
        guard case .version = try Self.parser.parse(words, environment: [:]) else {
            Issue.record("no version")
            return
        }
    }

    @Test func `a group says how to get a command's help, and a command can have tables of its own`() throws {
        let root = CommandSpec(
            "tool", summary: "A tool.",
            subcommands: [
                CommandSpec(
                    "redis", summary: "A group.",
                    subcommands: [CommandSpec("stop", summary: "Stops.", positional: Positional("name", isSingle: true, "Which."))])
            ],
            notes: [HelpNote("EXIT STATUS", [("0", "Done."), ("64", "Wrong usage.")])])
        let parser = CommandLineParser(root: root, environmentPrefix: "TOOL_")
        #expect(
            try #require(parser.help(for: [])).hasSuffix(
                "  See 'tool help <subcommand>' for detailed help.\n\nEXIT STATUS:\n  0                       Done.\n"
                    + "  64                      Wrong usage."))
        #expect(try #require(parser.help(for: ["redis"])).contains("  See 'tool help redis <subcommand>' for detailed help."))
        #expect(try #require(parser.help(for: ["redis", "stop"])).contains("USAGE: tool redis stop [<options>] <name>\n"))
    }

    @Test("Words after two dashes ask for nothing")
    func helpAsWord() throws {
        guard case .command(let arguments) = try Self.parser.parse(["run", "--", "--help"], environment: [:]) else {
            Issue.record("not a command")
            return
        }
        #expect(arguments.positionals == ["--help"])
    }

    private static let rich = CommandLineParser(
        root: CommandSpec(
            "tool", summary: "Do things.",
            subcommands: [
                CommandSpec(
                    "run", summary: "Runs things.",
                    flags: [
                        Flag("pace", .text("speed"), "How fast.").entry, Flag("net", .text("name"), section: .redis, "Where.").entry,
                        Flag("input", .file(), default: "-", "From where.").entry,
                    ],
                    mostUsed: ["input", "net"],
                    examples: ["tool run --input list": "Runs what the list says. Then it ends."])
            ],
            notes: [HelpNote("EXIT STATUS", [("0", "Done: it's all -- there\\.")])]),
        environmentPrefix: "TOOL_")

    @Test func `the most used options stand first, in the order that the command names, and examples stand last`() throws {
        let help = try #require(Self.rich.help(for: ["run"]))
        #expect(
            help.contains(
                """
                COMMON OPTIONS:
                  --input <file>          From where. (default: -)
                  --net <name>            Where.

                OPTIONS:
                  --pace <speed>          How fast.

                GENERAL OPTIONS:
                """))
        #expect(!help.contains("REDIS OPTIONS"))
        #expect(help.hasSuffix("\n\nEXAMPLES:\n  tool run --input list\n      Runs what the list says. Then it ends."))
    }

    @Test(arguments: [40, 59, 60, 80, 100, 120]) func `help breaks its lines between words at the width it is given`(width: Int) throws {
        let help = try #require(Self.parser.help(for: ["run"], width: width))
        let lines = help.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= width }, "\(help)")
        #expect(width > 100 || lines.contains { $0.count > width - 20 })
        let words = { (text: String) in text.split { $0 == " " || $0 == "\n" } }
        #expect(words(help) == words(try #require(Self.parser.help(for: ["run"], width: 80))))
    }

    @Test func `the reference has the examples of each command`() {
        #expect(Reference(Self.rich).text.contains("Runs what the list says. Then it ends.\n\n```sh\ntool run --input list\n```\n"))
    }

    @Test func `the page for man has its sections, and nothing in a text is taken for a request of roff`() {
        let page = ManPage(Self.rich, version: "1.2", seeAlso: ["other(1)"]).text
        let sections = page.split(separator: "\n").filter { $0.hasPrefix(".SH ") }.map { String($0.dropFirst(4)) }
        #expect(
            sections == [
                "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES", "SEE ALSO",
            ])
        #expect(page.contains("\ntool \\- do things\n"))
        #expect(page.contains("\nDone: it\\(aqs all \\-\\- there\\e.\n"))
        #expect(page.contains("\nRuns what the list says.\nThen it ends.\n"))
        #expect(page.contains("\n.TP\n\\fB\\-\\-input <file>\\fR\nFrom where.\n(default: \\-)"))
    }
}
