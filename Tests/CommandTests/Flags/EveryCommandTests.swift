import Foundation
import GannetTestKit
import Testing

/// Rules for every command that the program's help lists.
@Suite(.timeLimit(.minutes(5))) struct EveryCommandTests {
    private let program = Program(home: "/dev/null/none")

    private func commands() async throws -> [CommandHelp] {
        let commands = try await CommandHelp.all(program)
        #expect(commands.count >= 8, "\(commands)")
        return commands
    }

    /// One sentence that says what is wrong, with at most the option, the usage and where to read more below it.
    private func expectOneSentence(_ outcome: Program.Outcome, _ command: CommandHelp) {
        let lines = outcome.errors.split(separator: "\n").filter { !$0.hasPrefix("gannet: ") }
        #expect(lines.first?.hasPrefix("Error: ") == true, "\(command): \(outcome.errors)")
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("Help: ") || $0.hasPrefix("Usage: ") || $0.hasPrefix("  See ") }, "\(command)")
        #expect(outcome.output == "", "\(command)")
    }

    @Test func `help goes to standard output and is a success`() async throws {
        for command in try await commands() {
            for words in [command.path + ["--help"], ["help"] + command.path] {
                let outcome = try await program.run(words)
                #expect(outcome.status == 0, "\(command)")
                #expect(outcome.output == command.text, "\(command)")
                #expect(outcome.output.hasPrefix("OVERVIEW: ") && outcome.output.contains("\nUSAGE: \(command)"), "\(command)")
                #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(command)")
                #expect(outcome.errors == "", "\(command)")
            }
        }
    }

    @Test func `help has one or two examples, each with a sentence`() async throws {
        for command in try await CommandHelp.allAndGroups(program) {
            let parts = command.text.components(separatedBy: "\nEXAMPLES:\n")
            let lines = parts.last?.split(separator: "\n").map(String.init) ?? []
            let examples = lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            #expect(parts.count == 2 && (1...2).contains(examples.count), "\(command)")
            #expect(examples.allSatisfy { $0.contains(command.description) }, "\(command): \(examples)")
            #expect(lines.count > examples.count, "\(command)")
        }
    }

    @Test func `an unknown option, and one without its value, are exit 64 and one sentence`() async throws {
        for command in try await commands() {
            let unknown = try await program.run(command.path + ["--no-such-option"])
            #expect(unknown.status == 64, "\(command)")
            #expect(unknown.errors.hasPrefix("Error: Unknown option '--no-such-option'."), "\(command): \(unknown.errors)")
            #expect(unknown.errors.hasSuffix("  See '\(command) --help' for more information.\n"), "\(command)")
            expectOneSentence(unknown, command)
            guard let option = command.optionWithValue else { continue }
            let missing = try await program.run(command.path + [option])
            #expect(missing.status == 64, "\(command)")
            #expect(missing.errors.hasPrefix("Error: Missing value for '\(option) <"), "\(command): \(missing.errors)")
            expectOneSentence(missing, command)
        }
    }

    @Test func `a Redis that is not there is exit 69`() async throws {
        let folder = try TemporaryFolder()
        var count = 0
        for command in try await commands() where command.takesRedis {
            let words = command.words(folder: folder.file("out")) + ["--redis", "unix://\(folder.file("none.sock"))"]
            let outcome = try await program.run(words)
            #expect(outcome.status == 69, "\(words): \(outcome.errors)")
            expectOneSentence(outcome, command)
            count += 1
        }
        #expect(count >= 4)
    }

    @Test func `a Redis that takes connections and says nothing is exit 69`() async throws {
        let folder = try TemporaryFolder()
        let server = try HostileServer(scripts: [[.silence]])
        let commands = try await commands().filter(\.takesRedis)
        // All at once: each waits for its time to run out.
        try await withThrowingTaskGroup { group in
            for (number, command) in commands.enumerated() {
                let words = command.words(folder: folder.file("out\(number)")) + ["--redis", "redis://127.0.0.1:\(server.port)"]
                group.addTask { (command, try await self.program.run(words)) }
            }
            for try await (command, outcome) in group {
                #expect(outcome.status == 69, "\(command): \(outcome.errors)")
                expectOneSentence(outcome, command)
            }
        }
        try await server.stop()
    }

    @Test func `a reader that leaves early is no error`() async throws {
        for command in try await commands() {
            let gone = try await program.run(command.path + ["--help"], output: .nobody)
            #expect(gone.status == 0 && gone.errors == "", "\(command)")
        }
    }

    @Test func `output to a full disk is exit 74 and one sentence`() async throws {
        for command in try await commands() {
            let outcome = try await program.run(command.path + ["--help"], output: .file("/dev/full"))
            #expect(outcome.status == 74, "\(command)")
            #expect(outcome.errors.hasPrefix("Error: Standard output cannot be written: "), "\(command): \(outcome.errors)")
            expectOneSentence(outcome, command)
        }
    }

    /// With a Redis that is there: what a command has to say gets lost in two ways, and it neither crashes nor takes it for a success.
    /// They go on until a signal comes.
    private static let staying: Set = [["work"], ["serve"]]
    private static let missing: Set = MachineNeed.canMakeThumbnails ? [] : [["thumbnail"]]

    @Test func `results that cannot be written are exit 74, and a reader who leaves is none`() async throws {
        let fleet = try await Fleet.start(files: 1)
        var said = 0
        for command in try await commands() where command.takesRedis && !Self.staying.union(Self.missing).contains(command.path) {
            let words = command.words(folder: fleet.folder.file("out")) + fleet.connection
            let full = try await fleet.outcome(words, output: .file("/dev/full"))
            // Commands without a result ended with a reason of their own.
            #expect([74, 64, 65, 1, 0].contains(full.status), "\(words): \(full.status) \(full.errors)")
            if full.status == 74 {
                said += 1
                #expect(full.errors.contains("Error: Standard output cannot be written: "), "\(words): \(full.errors)")
            }
            let gone = try await fleet.outcome(words, output: .nobody)
            #expect(!gone.errors.contains("Standard output"), "\(words): \(gone.errors)")
        }
        #expect(said >= 3)
        try await fleet.stop()
    }
}
