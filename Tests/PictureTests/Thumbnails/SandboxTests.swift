import Foundation
import GannetTestKit
import Testing

/// The sandbox of `gannet-thumbnail`, tried by a program that links it and does what a taken-over process would do.
@Suite(.timeLimit(.minutes(3)), .enabled(if: MachineNeed.canMakeThumbnails)) struct SandboxTests {
    private func attempt(_ name: String) async throws -> ChildProcess.ExitStatus {
        let outcome = try await ChildProcess.run(.init(Program.built("TestHelper"), ["sandbox", name], environment: [:]))
        #expect(outcome.output == "inside\n", "it did not get as far as the attempt")
        return outcome.status
    }

    @Test(arguments: [
        "open", "create", "socket", "execve", "stat", "kill", "read", "code", "shared", "limit", "thread that opens",
    ])
    func `a process that tries what no picture needs is killed`(name: String) async throws {
        #expect(try await attempt(name) == .signalled(SIGSYS))
    }

    @Test(arguments: ["compute", "thread"])
    func `a process that works on a picture goes on`(name: String) async throws {
        #expect(try await attempt(name) == .exited(0))
    }

    @Test func `memory beyond the bound is refused`() async throws { #expect(try await attempt("memory") == .exited(4)) }

    @Test func `a process that computes for too long is ended`() async throws { #expect(try await attempt("time") == .signalled(SIGPROF)) }
}
