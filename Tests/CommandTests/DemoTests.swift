import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct DemoTests {
    private let folder: TemporaryFolder
    private let program: Program

    init() throws {
        folder = try TemporaryFolder()
        program = Program(home: folder.path, ["TMPDIR": folder.path])
    }

    @Test func `the demonstration keeps the promise, and leaves nothing behind`() async throws {
        let outcome = try await program.process("demo")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("All 1800 jobs have ended in "))
        #expect(outcome.output.hasSuffix("\nNothing was lost.\n"))
        #expect(outcome.errors.contains("gannet: worker 2 was killed with -9; "))
        #expect(try folder.files == [])
    }

    @Test func `an interrupted demonstration ends its workers and its Redis`() async throws {
        let child = try ChildProcess(.init(Program.path, ["demo"], environment: program.environment))
        _ = try await child.errors.line { $0.hasPrefix("gannet: 3 producers") }
        child.terminate()
        let status = try await child.exitStatus
        #expect(status == .exited(143), "\(status): \(child.errors.text)")
        // A process that is left would hold these open.
        try await child.errors.finished()
        #expect(try folder.files == [])
    }
}
