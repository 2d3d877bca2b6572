import Testing

@testable import GannetCommand

/// A small table with one of everything.
private enum Sample {
    static let count = Flag("count", .integer(in: 1...100), default: "64", "How many.")
    static let input = Flag("input", short: "i", .file(), "Where from.")
    static let net = Flag("allow-net", .text("cidr"), isRepeatable: true, "Which.")
    static let wait = Flag("max-wait", .duration(in: .seconds(1)...(.seconds(60))), default: "30s", "How long.")
    static let secret = Flag("secret", .choice("word", of: ["swordfish"]), secrecy: .whole, "Hush.")
    static let store = Flag("store", .folder(), isRequired: true, "Where to.")
    static let once = Flag("list", short: "l", .file(), "A list.")
    static let here = Flag("here", .text("here"), hasVariable: false, "Here alone.")
    static let quiet = Toggle("quiet", short: "q", "Less.")
    static let verbose = Toggle("verbose", short: "V", "More.")

    static let parser = CommandLineParser(
        root: CommandSpec(
            "tool", summary: "A tool.", flags: [quiet.entry, secret.entry],
            subcommands: [
                CommandSpec(
                    "run", summary: "Runs.", positional: Positional("url", "URLs."),
                    flags: [
                        count.entry, input.entry, net.entry, wait.entry, secret.entry, quiet.entry, verbose.entry,
                    ]),
                CommandSpec("keep", summary: "Keeps.", flags: [store.entry, quiet.entry]),
                CommandSpec(
                    "show", summary: "Shows.", positional: Positional("name", isSingle: true, "Which."), flags: [once.entry, here.entry]),
                CommandSpec(
                    "redis", summary: "A group.",
                    subcommands: [CommandSpec("stop", summary: "Stops."), CommandSpec("hide", summary: "Hides.", isHidden: true)]),
            ]),
        environmentPrefix: "TOOL_")

    static func parse(_ words: String..., environment: [String: String] = [:]) throws -> Arguments {
        guard case .command(let arguments) = try parser.parse(words, environment: environment) else { throw NotACommand() }
        return arguments
    }

    static func message(_ words: String..., environment: [String: String] = [:]) -> String? {
        do {
            _ = try parser.parse(words, environment: environment)
            return nil
        } catch {
            return error.message
        }
    }

    struct NotACommand: Error {}
}

@Suite struct ParsingTests {
    @Test func `a password that stands in the wrong place is not shown`() {
        let shown = Sentence.quoted("redis://user:p@ss/word@host/1")
        #expect(shown == "'redis://•••@host/1'")
    }

    @Test func `a second value of an option that takes one is refused, and a variable is no second value`() throws {
        #expect(Sample.message("show", "x", "-l", "a", "--list", "b") == "The option '--list <file>' can be given once.")
        #expect(Sample.message("run", "--count", "1", "--count=1") == "The option '--count <count>' can be given once.")
        #expect(try Sample.parse("--quiet", "run", "-q", "--quiet").isSet(Sample.quiet))
        #expect(try Sample.parse("show", "x", "-l", "a", environment: ["TOOL_LIST": "b"]).require(Sample.once) == "a")
    }

    @Test func `a command about one thing wants its name, and no other`() throws {
        #expect(try Sample.parse("show", "x").positionals == ["x"])
        #expect(Sample.message("show") == "Missing expected argument '<name>'.")
        #expect(Sample.message("show", "x", "y") == "Unexpected argument 'y'.")
        #expect(Sample.message("show", "x", "y", "z") == "2 unexpected arguments: 'y', 'z'.")
    }

    @Test("A long option takes its value from the next word or after an equals sign", arguments: [["--count", "7"], ["--count=7"]])
    func longOptions(words: [String]) throws {
        guard case .command(let arguments) = try Sample.parser.parse(["run"] + words, environment: [:]) else {
            Issue.record("not a command")
            return
        }
        #expect(try arguments.require(Sample.count) == 7)
    }

    @Test(
        "A short option takes its value from the next word, or joined to it",
        arguments: [["-i", "a=b"], ["-ia=b"], ["-i=a=b"], ["-qVi", "a=b"]])
    func shortOptions(words: [String]) throws {
        guard case .command(let arguments) = try Sample.parser.parse(["run"] + words, environment: [:]) else {
            Issue.record("not a command")
            return
        }
        #expect(try arguments.optional(Sample.input) == "a=b")
    }

    @Test("An option that is not given has its default, or nothing")
    func defaults() throws {
        let arguments = try Sample.parse("run")
        #expect(try arguments.require(Sample.count) == 64)
        #expect(try arguments.require(Sample.wait) == .seconds(30))
        #expect(try arguments.optional(Sample.input) == nil)
        #expect(try arguments.all(Sample.net) == [])
        #expect(!arguments.isSet(Sample.quiet))
    }

    @Test("Every value of a repeatable option counts")
    func repeats() throws {
        let arguments = try Sample.parse("run", "--allow-net", "a", "--count=2", "--allow-net=b")
        #expect(try arguments.all(Sample.net) == ["a", "b"])
    }

    @Test("Two dashes end the options, and one dash alone is a value")
    func dashes() throws {
        #expect(try Sample.parse("run", "-", "--", "--count", "-h", "--").positionals == ["-", "--count", "-h", "--"])
        #expect(try Sample.parse("run", "-i", "-").optional(Sample.input) == "-")
        #expect(try Sample.parse("run", "u", "-q", "w").positionals == ["u", "w"])
    }

    @Test("Options may stand before the command that follows them, and only before such a command")
    func optionsBeforeTheCommand() throws {
        #expect(try Sample.parse("--quiet", "run").isSet(Sample.quiet))
        #expect(Sample.message("--secret", "swordfish", "redis", "stop") == "The option '--secret' does not apply to 'tool redis stop'.")
    }

    @Test("A sub-command is found, whether it is listed or not")
    func subcommands() throws {
        #expect(try Sample.parse("redis", "stop").path == ["tool", "redis", "stop"])
        #expect(try Sample.parse("redis", "hide").path == ["tool", "redis", "hide"])
    }

    @Test("The environment stands in for an option, and the option wins")
    func environment() throws {
        let environment = ["TOOL_COUNT": "3", "TOOL_ALLOW_NET": "a,b", "TOOL_QUIET": "yes", "TOOL_VERBOSE": "0", "TOOL_INPUT": ""]
        let arguments = try Sample.parse("run", "--allow-net", "c", environment: environment)
        #expect(try arguments.require(Sample.count) == 3)
        #expect(try arguments.all(Sample.net) == ["c"])
        #expect(try arguments.optional(Sample.input) == nil)
        #expect(arguments.isSet(Sample.quiet))
        #expect(!arguments.isSet(Sample.verbose))
        #expect(arguments.origin(of: Sample.count.entry) == .variable("TOOL_COUNT"))
        #expect(try Sample.parse("run", environment: environment).all(Sample.net) == ["a", "b"])
        #expect(try Sample.parse("keep", environment: ["TOOL_STORE": "x"]).require(Sample.store) == "x")
        #expect(try Sample.parse("show", "x", environment: ["TOOL_HERE": "x"]).optional(Sample.here) == nil)
        #expect(
            Sample.parser.help(for: ["show"])?.contains("Every option but '--here' has an environment variable, such as TOOL_LIST") == true)
    }

    @Test(
        "A command line that cannot be followed is refused with a sentence that says why",
        arguments: [
            (["run", "--verbos"], "Unknown option '--verbos'. Did you mean '--verbose'?"),
            (["run", "--zzzzzzzz=secret"], "Unknown option '--zzzzzzzz'."),
            (["run", "-x"], "Unknown option '-x'."),
            (["rnu"], "Unknown command 'rnu'. Did you mean 'run'?"),
            (["hide"], "Unknown command 'hide'."),
            (["redis", "hidee"], "Unknown command 'hidee'."),
            (["run", "--zzzretries", "3"], "Unknown option '--zzzretries'."),
            (["bench", "--anything"], "Unknown command 'bench'."),
            (["run", "--count"], "Missing value for '--count <count>'."),
            (["run", "--count", "--quiet"], "Missing value for '--count <count>'."),
            (["run", "-i"], "Missing value for '-i <file>'."),
            (["run", "--quiet=yes"], "The option '--quiet' takes no value."),
            (["run", "-q=yes"], "The option '-q' takes no value."),
            (["run", "--count", "0"], "The value '0' is invalid for '--count <count>': use a whole number from 1 to 100."),
            (["run", "--count", "-1"], "The value '-1' is invalid for '--count <count>': use a whole number from 1 to 100."),
            (
                ["run", "--max-wait", "-8s"],
                "The value '-8s' is invalid for '--max-wait <time>': use a whole number with a unit, such as 500ms, 8s, 10m, 24h or 7d."
            ),
            (["version", "--bogus"], "Unknown option '--bogus'."), (["version", "extra"], "Unexpected argument 'extra'."),
            (["help", "run", "bogus"], "Unexpected argument 'bogus'."), (["help", "bogus"], "Unknown command 'bogus'."),
            (["help", "run", "--bogus"], "Unknown option '--bogus'."), (["help", "redis", "bogus"], "Unknown command 'bogus'."),
            (["run", "--count="], "The value '' is invalid for '--count <count>': use a whole number from 1 to 100."),
            (["run", "--input="], "The value '' is invalid for '--input <file>': it is empty."),
            (["run", "--max-wait", "2m"], "The value '2m' is invalid for '--max-wait <time>': use a time from 1s to 1m."),
            (["run", "--secret", "hunter2"], "The value is invalid for '--secret <word>': use 'swordfish'."),
            (
                ["run", "--count", "\u{1B}[2J"],
                "The value '\u{FFFD}[2J' is invalid for '--count <count>': use a whole number from 1 to 100."
            ),
            (["keep"], "Missing expected argument '--store <dir>'."),
            (["keep", "--store", "a", "b"], "Unexpected argument 'b'."),
            (["keep", "--store", "a", "b", "c"], "2 unexpected arguments: 'b', 'c'."),
        ])
    func refusals(words: [String], message: String) {
        do {
            _ = try Sample.parser.parse(words, environment: [:])
            Issue.record("\(words) was accepted")
        } catch {
            #expect(error.message == message)
        }
    }

    @Test("A value from the environment is refused by the variable's name")
    func environmentRefusals() {
        #expect(
            Sample.message("run", environment: ["TOOL_COUNT": "many"])
                == "The value 'many' of the environment variable TOOL_COUNT is invalid for '--count <count>': use a whole number from 1 to 100."
        )
        #expect(
            Sample.message("run", environment: ["TOOL_QUIET": "maybe"])
                == "The value 'maybe' of the environment variable TOOL_QUIET is invalid for '--quiet': use 'true' or 'false'.")
        #expect(Sample.message("run", environment: ["TOOL_ZZZRETRIES": "3"]) == nil)
    }

    @Test("A very long word costs a short message and no time")
    func longWords() {
        let message = Sample.message("run", "--" + String(repeating: "x", count: 1_000_000))
        #expect(message.map { $0.count < 300 } == true)
    }

    @Test("An error is shown with what the option is for, the usage, and where to read more")
    func errorText() {
        do {
            _ = try Sample.parser.parse(["run", "--count", "x"], environment: [:])
            Issue.record("it was accepted")
        } catch {
            #expect(
                error.text == """
                    Error: The value 'x' is invalid for '--count <count>': use a whole number from 1 to 100.
                    Help:  --count <count>  How many.
                    Usage: tool run [<options>] [<url> ...]
                      See 'tool run --help' for more information.
                    """)
        }
    }
}
