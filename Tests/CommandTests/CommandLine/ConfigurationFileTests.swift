import GannetTestKit
import Testing

@testable import GannetCommand

@Suite struct ConfigurationFileTests {
    private static let count = Flag("count", .integer(in: 1...100), default: "64", "How many.")
    private static let net = Flag("allow-net", .text("cidr"), isRepeatable: true, "Which.")
    private static let secret = Flag("secret", .choice("word", of: ["swordfish"]), secrecy: .whole, "Hush.")
    private static let proxy = Flag("proxy", .text("url"), "By way of.")
    private static let here = Flag("here", .text("here"), hasVariable: false, "Here alone.")
    private static let store = Flag("store", .folder(), isRequired: true, "Where to.")
    private static let quiet = Toggle("quiet", "Less.")
    private static let file = FlagEntry.configuration("A file.")

    private static let parser = CommandLineParser(
        root: CommandSpec(
            "tool", summary: "A tool.",
            subcommands: [
                CommandSpec(
                    "run", summary: "Runs.",
                    flags: [count.entry, net.entry, secret.entry, proxy.entry, here.entry, quiet.entry, file, FlagEntry.refused("store")]),
                CommandSpec("keep", summary: "Keeps.", flags: [store.entry, count.entry, file]),
                CommandSpec("bare", summary: "Reads no file.", flags: [count.entry]),
                CommandSpec(
                    "redis", summary: "A group.", subcommands: [CommandSpec("stop", summary: "Stops.", flags: [quiet.entry, file])]),
                CommandSpec("spy", summary: "Unlisted.", isHidden: true),
            ]),
        environmentPrefix: "TOOL_")

    private func parse(_ words: String, _ bytes: [UInt8], environment: [String: String] = [:]) throws -> Arguments {
        let outcome = try Self.parser.parse(
            words.split(separator: " ").map(String.init), environment: environment, configuration: { _ in ("f", bytes) })
        guard case .command(let arguments) = outcome else { throw NotACommand() }
        return arguments
    }

    private func parse(_ words: String, _ text: String, environment: [String: String] = [:]) throws -> Arguments {
        try parse(words, Array(text.utf8), environment: environment)
    }

    private func message(_ words: String, _ bytes: [UInt8]) -> String? {
        do {
            _ = try parse(words, bytes)
            return nil
        } catch {
            return (error as? UsageError)?.message ?? "\(error)"
        }
    }

    private struct NotACommand: Error {}

    @Test func `a line stands in for an option, a variable wins over it, and the command line over both`() throws {
        let text = "\u{FEFF}# ours\r\n\r\n  count =  3 \r\nquiet=yes\nallow-net = a\n\tallow-net = b,c\n#count = 4"
        let arguments = try parse("run", text)
        #expect(try arguments.require(Self.count) == 3)
        #expect(arguments.origin(of: Self.count.entry) == .file(path: "f", line: 3))
        #expect(arguments.isSet(Self.quiet))
        #expect(try arguments.all(Self.net) == ["a", "b,c"])
        #expect(try parse("run", text, environment: ["TOOL_COUNT": "5"]).require(Self.count) == 5)
        #expect(try parse("run --count 6", text, environment: ["TOOL_COUNT": "5"]).require(Self.count) == 6)
        #expect(try parse("run", text, environment: ["TOOL_COUNT": ""]).require(Self.count) == 3)
        #expect(try parse("run --allow-net d", text).all(Self.net) == ["d"])
        #expect(try !parse("run", "quiet = off").isSet(Self.quiet))
    }

    @Test func `lines of a command's section are for it alone, and stand in for those above`() throws {
        let text = "count = 1\nallow-net = a\n[run]\ncount = 2\nallow-net = b\n[ redis  stop ]\nquiet = true\n[keep]\nstore = x\n"
        let run = try parse("run", text)
        #expect(try run.require(Self.count) == 2)
        #expect(try run.all(Self.net) == ["b"])
        #expect(!run.isSet(Self.quiet))
        #expect(try parse("redis stop", text).isSet(Self.quiet))
        let keep = try parse("keep", text)
        #expect(try keep.require(Self.count) == 1)
        #expect(try keep.require(Self.store) == "x")
    }

    @Test func `the file that the option or its variable names is read, and a command without the option reads none`() throws {
        var asked: [String?] = []
        for (words, environment) in [
            (["run", "--config", "a"], [:]), (["run"], ["TOOL_CONFIG": "b"]), (["run"], [:]), (["bare"], ["TOOL_CONFIG": "c"]),
        ] {
            let outcome = try Self.parser.parse(words, environment: environment) {
                asked.append($0)
                return nil
            }
            guard case .command(let arguments) = outcome else { throw NotACommand() }
            #expect(arguments.configuration == nil)
        }
        #expect(asked == ["a", "b", nil])
    }

    @Test(
        "A file that is not understood is refused, with its line and the nearest name",
        arguments: [
            ("\n\ncuont = 3", "Line 3 of the configuration file 'f': no command has an option 'cuont'. Did you mean 'count'?"),
            ("zzzzzz = 3", "Line 1 of the configuration file 'f': no command has an option 'zzzzzz'."),
            ("--count = 3", "Line 1 of the configuration file 'f': no command has an option '--count'. Did you mean 'count'?"),
            ("= 3", "Line 1 of the configuration file 'f': no command has an option ''."),
            ("[keep]\nallow_net = a", "Line 2 of the configuration file 'f': 'keep' has no option 'allow_net'."),
            ("[run]\nallow_net = a", "Line 2 of the configuration file 'f': 'run' has no option 'allow_net'. Did you mean 'allow-net'?"),
            ("[run]\nstore = x", "Line 2 of the configuration file 'f': 'run' has no option 'store'."),
            ("here = x", "Line 1 of the configuration file 'f': '--here' is for the command line alone."),
            ("config = x", "Line 1 of the configuration file 'f': '--config' is for the command line alone."),
            ("help = true", "Line 1 of the configuration file 'f': no command has an option 'help'."),
            ("[rnu]", "Line 1 of the configuration file 'f': there is no command 'rnu'. Did you mean 'run'?"),
            ("[redis]", "Line 1 of the configuration file 'f': there is no command 'redis'."),
            ("[spy]", "Line 1 of the configuration file 'f': there is no command 'spy'."),
            ("[]", "Line 1 of the configuration file 'f': there is no command ''."),
            ("[run] # mine", "Line 1 of the configuration file 'f': a section is written '[run]' or '[batch wait]', alone on its line."),
            ("[run]\n[keep]\n[run]", "Line 3 of the configuration file 'f': the section [run] begins in line 1 already."),
            ("count = 1\ncount = 1", "Line 2 of the configuration file 'f': 'count' is set in line 1 already."),
            ("count", "Line 1 of the configuration file 'f': it is neither 'name = value' nor '[command]'."),
            ("count =", "Line 1 of the configuration file 'f': there is no value behind '='."),
            ("proxy = \"x\"", "Line 1 of the configuration file 'f': a value stands without quotes."),
            ("proxy = 'x'", "Line 1 of the configuration file 'f': a value stands without quotes."),
            (
                "proxy = x # y",
                "Line 1 of the configuration file 'f': a comment stands on a line of its own, and no value has a blank before '#'."
            ),
            ("proxy = a\0b", "Line 1 of the configuration file 'f': it is no text in UTF-8."),
            (
                "\ncount = 101",
                "The value '101' in line 2 of the configuration file 'f' is invalid for '--count <count>': use a whole number from 1 to 100."
            ),
            (
                "secret = hunter2",
                "The value in line 1 of the configuration file 'f' is invalid for '--secret <word>': use 'swordfish'."
            ),
            ("quiet = maybe", "The value 'maybe' in line 1 of the configuration file 'f' is invalid for '--quiet': use 'true' or 'false'."),
        ])
    func refusals(text: String, message: String) {
        #expect(self.message("run", Array(text.utf8)) == message)
    }

    @Test func `several lines for one option are refused where a command takes one value, and not where it takes each`() throws {
        let (one, each) = (Flag("store", .folder(), "One."), Flag("store", .folder(), isRepeatable: true, "Each."))
        let parser = CommandLineParser(
            root: CommandSpec(
                "tool", summary: "A tool.",
                subcommands: [
                    CommandSpec("work", summary: "Works.", flags: [one.entry, Self.file]),
                    CommandSpec("get", summary: "Gets.", flags: [each.entry, Self.file]),
                ]),
            environmentPrefix: "TOOL_")
        func parse(_ word: String) throws(UsageError) -> CommandLineParser.Outcome {
            try parser.parse([word], environment: [:]) { _ in ("f", Array("store = a\nstore = b\n".utf8)) }
        }
        guard case .command(let arguments) = try parse("get") else { throw NotACommand() }
        #expect(try arguments.all(each) == ["a", "b"])
        let refusal = #expect(throws: UsageError.self) { _ = try parse("work") }
        #expect(refusal?.message == "Line 2 of the configuration file 'f': 'store' is set in line 1 already.")
    }

    @Test func `a value is checked where a command takes it, and a name in the whole file`() throws {
        #expect(try parse("run", "[keep]\ncount = 101\n").require(Self.count) == 64)
        #expect(message("run", Array("[keep]\ncuont = 1\n".utf8)) != nil)
    }

    @Test func `a file and its lines have bounds, and bytes that are no text are refused`() {
        let comment = [UInt8](repeating: UInt8(ascii: "#"), count: 8192)
        let lines = [[UInt8]](repeating: comment.dropLast() + [0x0A], count: 8).flatMap { $0 }
        #expect(message("run", comment) == nil)
        #expect(message("run", comment + comment) == "Line 1 of the configuration file 'f': it has more than 8192 bytes.")
        #expect(message("run", lines) == nil)
        #expect(message("run", lines + [0x0A]) == "The configuration file 'f' has more than 65536 bytes.")
        #expect(message("run", Array("count = 1\n".utf8) + [0xFF]) == "Line 2 of the configuration file 'f': it is no text in UTF-8.")
        var random = SeededBytes(seed: 3)
        for length in 1...200 { #expect(message("run", random.next(count: 8 * length)) != nil) }
    }

    @Test func `settings say each value and where it is from, without secrets`() throws {
        let text = "count = 3\nallow-net = a\nallow-net = b\nproxy = http://u:hunter2@h:1\nsecret = swordfish\n"
        let arguments = try parse("run", text)
        let settings = try Self.parser.settings(
            of: ["run"], environment: ["TOOL_QUIET": "1", "TOOL_HERE": "x"], configuration: arguments.configuration)
        #expect(settings.map(\.option) == ["count", "allow-net", "allow-net", "secret", "proxy", "quiet"])
        #expect(settings.map(\.value) == ["3", "a", "b", "•••", "http://•••@h:1", "true"])
        let file = [1, 2, 3, 5, 4].map { Arguments.Origin.file(path: "f", line: $0) }
        #expect(settings.map(\.origin) == file + [.variable("TOOL_QUIET")])
        let plain = try Self.parser.settings(of: ["run"], environment: [:], configuration: nil)
        #expect(plain.map(\.value) == ["64", nil, nil, nil, "false"])
        #expect(plain.allSatisfy { $0.origin == nil })
        // A command lacks what its user has to give.
        #expect(try Self.parser.settings(of: ["keep"], environment: [:], configuration: nil).count == 2)
    }

    @Test(arguments: [
        ("redis", "'redis' is a group of commands. Name one of them."), ("rnu", "Unknown command 'rnu'. Did you mean 'run'?"),
        ("run more", "Name a command alone, such as 'run' or 'batch wait'."),
        ("run --count 3", "Name a command alone, such as 'run' or 'batch wait'."),
        ("run --help", "Name a command alone, such as 'run' or 'batch wait'."),
    ])
    func `settings are those of one command`(words: String, message: String) {
        let error = #expect(throws: UsageError.self) {
            _ = try Self.parser.settings(of: words.split(separator: " ").map(String.init), environment: [:], configuration: nil)
        }
        #expect(error?.message == message)
    }
}
