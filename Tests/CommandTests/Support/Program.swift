import Foundation
import GannetTestKit

/// The real binary, built beside the tests.
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
        environment.merge(more) { $1 }
        // The exceptions of a sanitizer hold for the program as for its tests.
        for (name, value) in own where name.hasSuffix("SAN_OPTIONS") { environment[name] = value }
    }

    static let path = GannetTestKit.Program.built("gannet")

    /// Returns when the process has ended *and* nobody else holds its output open.
    func run(_ words: String...) async throws -> Outcome {
        try await run(words)
    }

    func run(_ words: [String]) async throws -> Outcome {
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
