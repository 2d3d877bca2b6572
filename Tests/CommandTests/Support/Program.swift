import Foundation
import GannetBase
import GannetTestKit

@testable import GannetCommand

/// The program: its commands run in the test process, side by side, or as processes of the binary that is built beside the tests.
struct Program: Sendable {
    struct Outcome: Sendable {
        /// As a shell shows it: 128 and the signal's number for a process that a signal ended.
        let status: Int32
        let output: String
        let errors: String

        /// Without what every `run` says of its queue.
        var complaints: String {
            errors.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("gannet: the queue of this run is ") }
                .joined(separator: "\n")
        }
    }

    var environment: [String: String]

    init(home: String, _ more: [String: String] = [:]) {
        let own = ProcessInfo.processInfo.environment
        let path = own["PATH"] ?? "/usr/bin:/bin"
        // Should the tests themselves be killed, what they started ends soon after.
        environment = ["PATH": path, "HOME": home, "GANNET_HOME": home, "GANNET_REDIS_IDLE": "30s"]
        // Many tests count the requests at their origin.
        environment["GANNET_ROBOTS"] = "ignore"
        // No test waits for the times that suit people.
        environment[Times.variable] = Self.times
        environment.merge(more) { $1 }
        // The exceptions of a sanitizer hold for the program as for its tests.
        for (name, value) in own where name.hasSuffix("SAN_OPTIONS") { environment[name] = value }
    }

    static let times = "heartbeat=500ms,idle-look=500ms,hand-back=2s,site-pause=500ms,replicas=1s,watch=200ms,demo-page=150ms,host-first=8"

    static let path = GannetTestKit.Program.built("gannet")

    /// Where a command in the test process has its standard output.
    enum Output: Sendable {
        case collected
        /// Opened to be written.
        case file(String)
        /// A pipe whose reader has left.
        case nobody
    }

    /// Runs a command in the test process, with an environment and outputs of its own.
    func run(_ words: String...) async throws -> Outcome {
        try await run(words)
    }

    /// - Parameters:
    ///   - more: Variables of its environment; nil takes one away.
    ///   - input: The file that is its standard input.
    func run(
        _ words: [String], with more: [String: String?] = [:], input: String = "/dev/null", output: Output = .collected
    ) async throws -> Outcome {
        Self.ignoresBrokenPipes
        let (told, errors) = (LineLog(), LineLog())
        var surroundings = Surroundings(environment: environment, program: Self.path)
        for (name, value) in more { surroundings.environment[name] = value }
        surroundings.requests = { AsyncStream { _ in } }
        surroundings.input = try Self.open(input, O_RDONLY)
        surroundings.output =
            switch output {
            case .collected: try Self.open(told)
            case .file(let path): try Self.open(path, O_WRONLY)
            case .nobody: try Self.openForNobody()
            }
        if case .collected = output {} else { told.finish() }
        surroundings.errors = try Self.open(errors)
        let status = await EntryPoint.run(words, in: surroundings)
        for end in [surroundings.input, surroundings.output, surroundings.errors] { close(end) }
        try await told.finished()
        try await errors.finished()
        return Outcome(status: status.rawValue, output: told.text, errors: errors.text)
    }

    /// As the program does when it begins.
    private static let ignoresBrokenPipes: Void = Signals.ignoreBrokenPipes()

    private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
        let descriptor = GannetBase.open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw KitError("cannot open \(path): \(errno)") }
        return descriptor
    }

    private static func open(_ log: LineLog) throws -> Int32 {
        let ends = try pipe()
        log.collect(from: ends.read)
        return ends.write
    }

    private static func openForNobody() throws -> Int32 {
        let ends = try pipe()
        close(ends.read)
        return ends.write
    }

    private static func pipe() throws -> (read: Int32, write: Int32) {
        guard let ends = Descriptor.pipe() else { throw KitError("cannot make a pipe: \(errno)") }
        return ends
    }

    /// Runs the binary. Returns when the process has ended *and* nobody else holds its output open.
    func process(_ words: String...) async throws -> Outcome {
        try await process(words)
    }

    func process(_ words: [String]) async throws -> Outcome {
        try await run(Self.path, words)
    }

    /// The program is `$0` to the script, and `words` are its arguments.
    func run(script: String, _ words: [String] = []) async throws -> Outcome {
        try await run("/bin/sh", ["-c", script, Self.path] + words)
    }

    private func run(_ program: String, _ words: [String]) async throws -> Outcome {
        let outcome = try await ChildProcess.run(.init(program, words, environment: environment))
        let status: Int32 =
            switch outcome.status {
            case .exited(let code): code
            case .signalled(let number): 128 + number
            }
        return Outcome(status: status, output: outcome.output, errors: outcome.errors)
    }
}
