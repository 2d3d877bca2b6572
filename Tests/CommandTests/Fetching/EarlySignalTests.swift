import Foundation
import GannetBase
import GannetTestKit
import Testing

/// SIGTERM in the first moments of a worker. Until `main` begins, while the system loads the program, a signal ends it by its number. Nothing
/// can change that, and nothing has begun then.
@Suite(.timeLimit(.minutes(2))) struct EarlySignalTests {
    /// The worker's end after SIGTERM at the system call of this number after `main` has begun.
    private func end(after calls: Int, redis port: UInt16) async throws -> ChildProcess.ExitStatus {
        let first = Mutex<Int?>(nil)
        let words = [Program.path, "work", "--redis", "redis://127.0.0.1:\(port)"]
        return try await SystemCallTrace.run(words, environment: Program(home: "/dev/null/none").environment) { pid, number in
            let began = first.withLock { first in
                // `main` first puts something in the place of the standard input, which is closed.
                let input = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/0")
                if first == nil, input == "/dev/null" { first = number }
                return first
            }
            return began.map { number >= $0 + calls } ?? false
        } act: { pid in
            kill(pid, SIGTERM)
        }
    }

    @Test func `a worker that is stopped at any of the first system calls of main ends by itself`() async throws {
        let silent = try HostileServer(.silence)
        for calls in stride(from: 0, to: 40, by: 2) {
            #expect(try await end(after: calls, redis: silent.port) == .exited(143), "\(calls) calls after the first")
        }
        try await silent.stop()
    }

    @Test(arguments: ["HELLO\"", "SETNX\"", "INFO\"", "SUBSCRIBE\"", "EVALSHA\"", "HGETALL\""])
    func `a worker that is stopped while it connects ends by itself`(command: String) async throws {
        let fleet = try await Fleet.start(files: 1)
        let watch = try await fleet.watch()
        let worker = try fleet.start(["work"] + fleet.local + fleet.connection)
        try await watch.saw(command)
        worker.terminate()
        let status = try await worker.exitStatus
        // Before it is at work it is interrupted, and after that it has nothing to finish.
        #expect(status == .exited(143) || status == .exited(0), "\(command): \(status)")
        try await fleet.stop()
    }

    @Test func `a worker that is stopped at its first line of output ends with success`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let worker = try fleet.start(["work"] + fleet.local + fleet.connection)
        _ = try await worker.errors.line { _ in true }
        worker.terminate()
        #expect(try await worker.exitStatus == .exited(0))
        try await fleet.stop()
    }
}
