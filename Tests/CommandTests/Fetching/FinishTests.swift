import Foundation
import GannetTestKit
import Testing

/// `run --finish`, which ends the run of another process.
@Suite(.timeLimit(.minutes(2))) struct FinishTests {
    private static func finish(_ fleet: Fleet) -> [String] { ["run", "--finish", "-d", fleet.out] }

    /// A run of which 20 URLs have ended, and the others never do.
    private static func withHangingRun(_ body: (Fleet, ChildProcess, [String]) async throws -> Void) async throws {
        let fleet = try await Fleet.start(files: 40)
        let gate = try fleet.gateList(after: 20)
        let words = fleet.run + ["--concurrency", "2", "--drain-timeout", "0s"]
        let run = try await fleet.start(words, untilFetched: 20)
        try await gate.accepted(2)
        try await body(fleet, run, words)
        try await gate.stop()
        try await fleet.stop()
    }

    private static func isAsking(_ line: String) -> Bool { line.hasPrefix("gannet: asked the run in ") }

    @Test func `two askers end one run, learn what its manifest holds, and the same command goes on`() async throws {
        try await Self.withHangingRun { fleet, run, words in
            // It hears both at the same time.
            run.signal(SIGSTOP)
            let askers = try (0..<2).map { _ in try fleet.start(Self.finish(fleet)) }
            for asker in askers { _ = try #require(try await asker.errors.line(where: Self.isAsking)) }
            run.signal(SIGCONT)
            for asker in askers {
                #expect(try await asker.exitStatus == .exited(0))
                try await asker.output.finished()
                #expect(asker.output.text == "The run in \(fleet.out) has ended. Its manifest holds 42 rows: 20 fetched, 22 failed.\n")
            }
            #expect(try await run.exitStatus == .exited(1))
            try await run.errors.finished()
            let news = "asked by 'gannet run --finish': the run ends, and the URLs that are left count as failed."
            #expect(run.errors.lines.count { $0.contains(news) } == 1, "\(run.errors.text)")
            let rows: [EndedRow] = try fleet.manifest()
            #expect(Set(rows.compactMap(\.error?.class)) == ["unfinished"])
            #expect(Set(rows.compactMap(\.error?.message)) == ["The run was ended by 'gannet run --finish' before this URL ended."])
            #expect(try await fleet.queueKeys() == .list([]))

            let none = try await fleet.outcome(Self.finish(fleet))
            #expect(none.status == 69)
            #expect(none.errors == "Error: No run is at work in the folder \(fleet.out), so there is nothing to end.\n")
            let second = try await fleet.outcome(words)
            #expect(second.status == 0, "\(second.errors)")
            #expect(second.output.hasPrefix("22 URLs fetched, 20 there already, 0 failed; "), "\(second.output)")
        }
    }

    @Test func `the pipe of a killed run is no run, and the next run has its own`() async throws {
        try await Self.withHangingRun { fleet, run, words in
            run.signal(SIGSTOP)
            let asker = try fleet.start(Self.finish(fleet))
            _ = try #require(try await asker.errors.line(where: Self.isAsking))
            run.kill()
            #expect(try await asker.exitStatus == .exited(69))
            try await asker.errors.finished()
            #expect(asker.errors.text.contains("has ended and has written no manifest: it failed or was killed."), "\(asker.errors.text)")
            _ = try await run.exitStatus
            let pipe = fleet.out + "/.gannet/finish"
            #expect(FileManager.default.fileExists(atPath: pipe))
            let files = try FileManager.default.subpathsOfDirectory(atPath: fleet.out).sorted()
            #expect(try await fleet.outcome(Self.finish(fleet)).status == 69)
            #expect(try FileManager.default.subpathsOfDirectory(atPath: fleet.out).sorted() == files)

            let gate = try fleet.gateList(after: 20)
            let next = try fleet.start(words)
            try await gate.accepted(2)
            // The same command line with the option behind it.
            let ended = try await fleet.outcome(words + ["--json", "--finish"])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(
                ended.output
                    == #"{"manifest":{"rows":42,"fetched":0,"revalidated":0,"cached":20,"failed":22,"disallowed":0,"pending":0,"invalid":0}}"#
                    + "\n")
            #expect(try await next.exitStatus == .exited(1))
            #expect(!FileManager.default.fileExists(atPath: pipe))
            try await gate.stop()
        }
    }

    @Test func `an asker names a folder without a run, and a command that cannot be asked`() async throws {
        let fleet = try await Fleet.start(files: 1)
        #expect(try await fleet.outcome(Self.finish(fleet)).status == 65)
        #expect(!FileManager.default.fileExists(atPath: fleet.out))
        // A command that holds the folder alone, as an export does.
        try FileManager.default.createDirectory(atPath: fleet.out, withIntermediateDirectories: true)
        let lock = open(fleet.out + "/.gannet-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let refused = try await fleet.outcome(Self.finish(fleet))
        #expect(refused.status == 69)
        #expect(refused.errors.contains("is in use by a command that cannot be asked from here"), "\(refused.errors)")
        try await fleet.stop()
    }

    @Test func `an asker waits for a bounded time`() async throws {
        let fleet = try await Fleet.start(files: 1)
        try FileManager.default.createDirectory(atPath: fleet.out + "/.gannet", withIntermediateDirectories: true)
        // A run that hears no request.
        #expect(mkfifo(fleet.out + "/.gannet/finish", 0o600) == 0)
        let pipe = open(fleet.out + "/.gannet/finish", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(pipe) }
        let late = try await fleet.outcome(Self.finish(fleet), with: ["GANNET_TEST_TIMES": "finish=1ms"])
        #expect(late.status == 75)
        #expect(late.errors.contains("was asked to end, and has not ended within "), "\(late.errors)")
        var bytes = [UInt8](repeating: 0, count: 10)
        #expect(read(pipe, &bytes, bytes.count) == 1)
        try await fleet.stop()
    }
}
