import FoundationEssentials
import GannetTestKit
import Testing

@Suite struct ChildProcessTests {
    @Test func `arguments, environment, folder and input reach the program unchanged`() async throws {
        let folder = try TemporaryFolder()
        let input = try folder.write("in\n".utf8, to: "input")
        let script = #"printf '%s|' "$@"; echo "$VALUE|$(pwd)|$(cat)"; echo problem >&2; exit 3"#
        let outcome = try await ChildProcess.run(
            .init(
                "sh", ["-c", script, "sh", "a b", "", "$HOME", "'é'"], environment: ["PATH": "/usr/bin:/bin", "VALUE": "x y"],
                folder: folder.path, input: input))
        #expect(outcome.output == "a b||$HOME|'é'|x y|\(folder.path)|in\n")
        #expect(outcome.errors == "problem\n")
        #expect(outcome.status == .exited(3))
    }

    @Test func `a child inherits no descriptor but its three streams`() async throws {
        let child = try await ChildProcess.run(.init("sh", ["-c", "for i in 3 4 5 6 7 8 9; do [ -e /dev/fd/$i ] && echo $i; done; true"]))
        #expect(child.output == "")
    }

    @Test func `a signal ends a child, and later signals do nothing`() async throws {
        let child = try ChildProcess(.init("sleep", ["600"]))
        #expect(child.isRunning)
        child.terminate()
        #expect(try await child.exitStatus == .signalled(15))
        #expect(!child.isRunning)
        child.kill()
    }

    @Test func `processes that a child leaves in its group end with it`() async throws {
        let child = try ChildProcess(.init("sh", ["-c", "sleep 600 & echo started"]))
        #expect(try await child.exitStatus == .exited(0))
        // The sleeper has inherited the output: it is finished only when the sleeper is gone.
        try await child.output.finished()
        #expect(child.output.lines == ["started"])
    }

    @Test func `a cancelled wait throws and leaves the child alone`() async throws {
        let child = try ChildProcess(.init("sleep", ["600"]))
        let waiting = Task { try await child.exitStatus }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(child.isRunning)
    }

    @Test func `a child that has ended tells what it used`() async throws {
        let idle = try await ChildProcess.run(.init("true")).usage
        let busy = try await ChildProcess.run(.init("awk", ["BEGIN { for (i = 0; i < 1000000; i++) numbers[i] = i }"])).usage
        #expect(busy.cpuTime > idle.cpuTime)
        #expect(busy.peakMemory > 20_000_000)
    }

    @Test func `a program that is not there is an error with its name`() throws {
        #expect { try ChildProcess(.init("no-such-program")) } throws: { "\($0)".contains("no-such-program is not installed") }
    }

    @Test func `a line is found whether it came before or after it was waited for`() async throws {
        let child = try ChildProcess(.init("sh", ["-c", "echo first; read never; printf last"]))
        #expect(try await child.output.line { $0 == "first" } == "first")
        #expect(try await child.output.line { $0 == "first" } == "first")
        #expect(try await child.output.line { $0 == "last" } == "last")
        #expect(try await child.output.line { $0 == "other" } == nil)
    }

    @Test func `a folder goes with its last reference`() throws {
        var folder: TemporaryFolder? = try TemporaryFolder()
        let path = folder!.path
        try folder!.write([1], to: "file")
        #expect(path.utf8.count < 60)
        #expect(FileManager.default.fileExists(atPath: path))
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
