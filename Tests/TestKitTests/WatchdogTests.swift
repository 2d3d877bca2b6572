import FoundationEssentials
import GannetTestKit
import Glibc
import Testing

@Suite struct WatchdogTests {
    @Test func `the children and files of a killed test process are removed`() async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe")
        let note = folder.file("note")
        #expect(mkfifo(pipe, 0o600) == 0)
        async let output = ChildProcess.run(.init("cat", [pipe]))

        try await inOwnProcess(ending: .signalled(SIGKILL), with: ["GANNET_TEST_PIPE": pipe, "GANNET_TEST_NOTE": note]) {
            // This process has a pipe of its own from the lines above. Its parent waits for the end of another one.
            let environment = ProcessInfo.processInfo.environment
            let pipe = try #require(environment["GANNET_TEST_PIPE"])
            let note = try #require(environment["GANNET_TEST_NOTE"])
            let left = try TemporaryFolder()
            try Data(left.path.utf8).write(to: URL(fileURLWithPath: note))
            let server = try await RedisServer.shared
            // Three that hold the pipe: one plain, one stopped, one child of a child.
            let plain = try ChildProcess(.init("sleep", ["600"], output: .file(pipe)))
            let stopped = try ChildProcess(.init("sleep", ["600"], output: .file(pipe)))
            stopped.signal(SIGSTOP)
            let parent = try ChildProcess(.init("sh", ["-c", "sleep 600 & echo started; wait"], output: .file(pipe)))
            try withExtendedLifetime((left, server, plain, stopped, parent)) {
                #expect(raise(SIGKILL) == 0)
                throw KitError("still alive")
            }
        }

        // It ends when nobody holds the pipe any more.
        #expect(try await output.status == .exited(0))
        // The files go after the processes; nothing tells of that moment.
        let path = try String(contentsOfFile: note, encoding: .utf8)
        try await eventually("the killed process' folder is removed") { !FileManager.default.fileExists(atPath: path) }
    }
}
