import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetCommand

@Suite struct PrivateRedisTests {
    @Test("It is started once for any number of commands, and only the one that started it says so, on standard error")
    func startsOnce() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            let outcomes = try await withThrowingTaskGroup { group in
                for _ in 1...6 { group.addTask { try await program.process("redis", "start") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.map(\.status) == Array(repeating: 0, count: 6))
            #expect(Set(outcomes.map(\.output)) == ["unix://\(home.folder)/redis.sock\n"])
            #expect(
                outcomes.map(\.errors).sorted() == Array(repeating: "", count: 5) + [
                    "gannet: Started a private Redis, which keeps its data in \(home.folder); it stops 30s after its last use.\n"
                ])
            let verbose = try await program.process("redis", "start", "--verbose")
            #expect(verbose.errors == "gannet: using the private Redis at unix://\(home.folder)/redis.sock\n")
            let quiet = try await program.process("redis", "start", "--quiet")
            #expect(quiet.errors == "")
        }
    }

    @Test("Its folder and socket are for its owner alone, and its session is its own")
    func isPrivate() async throws {
        try await Home.with { home in
            _ = try await Program(home: home.path).process("redis", "start")
            for path in [home.folder, home.folder + "/data", home.folder + "/redis.sock"] {
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o700)
            }
            let pid = try #require(home.serverProcess)
            #expect(getsid(pid) != getsid(0))
            #expect(home.supervisorProcess != nil)
        }
    }

    @Test("Stopping it is at once, removes the socket, keeps the data, and is no error when it does not run")
    func stops() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("redis", "start")
            let pid = try #require(home.serverProcess)
            let stopped = try await program.process("redis", "stop")
            #expect(stopped.status == 0)
            #expect(stopped.errors == "gannet: Stopped the private Redis.\n")
            #expect(!FileManager.default.fileExists(atPath: home.folder + "/redis.sock"))
            try await eventually("the server ends") { !isRunning(pid) }
            let again = try await program.process("redis", "stop")
            #expect(again.status == 0)
            #expect(again.errors == "gannet: The private Redis was not running.\n")
        }
    }

    @Test("Killed, it comes back with its data for the next command, over the socket it left behind")
    func comesBack() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("redis", "start")
            let pid = try #require(home.serverProcess)
            #expect(home.ask("SET city Bergen") == "+OK")
            // Written to the kernel before the answer was sent; a killed process takes nothing of that along.
            kill(pid, SIGKILL)
            try await eventually("the server is gone") { ServerConnection.state(of: home.socket) == .gone }
            #expect(FileManager.default.fileExists(atPath: home.socket))
            let outcome = try await program.process("redis", "start")
            #expect(outcome.status == 0)
            #expect(home.serverProcess != pid)
            #expect(home.ask("STRLEN city") == ":6")
        }
    }

    @Test("It ends when it has been idle, and its supervisor with it")
    func endsWhenIdle() async throws {
        try await Home.with { home in
            _ = try await Program(home: home.path, ["GANNET_REDIS_IDLE": "300ms"]).process("redis", "start")
            let pid = try #require(home.serverProcess)
            try await eventually("the server and its supervisor end") { !isRunning(pid) && !home.isLocked("supervisor.lock") }
            #expect(!FileManager.default.fileExists(atPath: home.socket))
        }
    }

    @Test("It does not end while a command uses it, though that takes longer than the idle time")
    func staysInUse() async throws {
        try await Home.with { home in
            let program = Program(home: home.path, ["GANNET_REDIS_IDLE": "100ms"])
            let environment = PrivateRedisEnvironment(program.environment, workingFolder: "/")
            let folder = try PrivateRedisFolder.prepare(home: environment.home)
            let users = try #require(try FileLock.tryToTake(folder.usersLock, .shared))
            _ = try await program.process("redis", "start")
            let pid = try #require(home.serverProcess)
            // A server without users that starts later ends when it has been idle. So this one has been idle for longer.
            try await Home.with { other in
                _ = try await Program(home: other.path, ["GANNET_REDIS_IDLE": "300ms"]).process("redis", "start")
                let pid = try #require(other.serverProcess)
                try await eventually("the idle server ends") { !isRunning(pid) }
            }
            #expect(isRunning(pid))
            let stopped = try await PrivateRedis(environment: environment).stop()
            #expect(stopped == .stopped(wasInUse: true))
            withExtendedLifetime(users) {}
        }
    }

    @Test("A server whose supervisor was killed gets another, which ends it when idle")
    func isAdopted() async throws {
        try await Home.with { home in
            // The first supervisor must not come to stop it before it is killed, however slow the machine.
            _ = try await Program(home: home.path, ["GANNET_REDIS_IDLE": "10m"]).process("redis", "start")
            let pid = try #require(home.serverProcess)
            kill(try #require(home.supervisorProcess), SIGKILL)
            try await eventually("the supervisor ends") { !home.isLocked("supervisor.lock") }
            #expect(isRunning(pid))
            let program = Program(home: home.path, ["GANNET_REDIS_IDLE": "500ms"])
            let outcome = try await program.process("redis", "start")
            #expect(outcome.status == 0)
            #expect(home.serverProcess == pid)
            try await eventually("the server ends") { !isRunning(pid) }
        }
    }

    @Test("A command that comes while an interrupted one's server still starts uses that server")
    func interruptedStart() async throws {
        try await Home.with { home in
            // A server that does not start before it is let.
            let (folder, gate) = (home.path + "/bin", home.path + "/gate")
            #expect(mkfifo(gate, 0o600) == 0)
            let path = try #require(Program(home: home.path).environment["PATH"])
            let wrapper = "#!/bin/sh\nPATH='\(path)'\nread -r go < '\(gate)'\nexec redis-server \"$@\"\n"
            try wrapper.write(toFile: home.path + "/wrapper", atomically: false, encoding: .utf8)
            // A child makes the file, as for `TemporaryFolder.writeProgram`.
            try await ChildProcess.succeed("install", ["-D", "-m", "700", home.path + "/wrapper", folder + "/redis-server"])
            let program = Program(home: home.path, ["PATH": folder + ":" + path])

            // The supervisor alone, as an interrupted command leaves it behind; killed with its server when this ends.
            async let _ = program.process("redis", "supervise")
            // Its server waits at the gate: a writer finds it open as soon as there is a reader. To look at the lock instead would be to
            // take it for a moment, perhaps the one in which the server needs it.
            var writer: Int32 = -1
            try await eventually("the server waits at the gate") {
                writer = open(gate, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                return writer >= 0
            }
            defer { close(writer) }
            let start = Task { try await program.process("redis", "start") }
            try await eventually("the second command starts a server") { home.isLocked("start.lock") }
            #expect(write(writer, "go\n", 3) == 3)
            #expect(try await start.value.status == 0)
        }
    }

    @Test("A supervisor that is asked to end stops its server in order")
    func terminates() async throws {
        try await Home.with { home in
            _ = try await Program(home: home.path).process("redis", "start")
            let pid = try #require(home.serverProcess)
            kill(try #require(home.supervisorProcess), SIGTERM)
            try await eventually("the server and its supervisor end") { !isRunning(pid) && !home.isLocked("supervisor.lock") }
            #expect(!FileManager.default.fileExists(atPath: home.socket))
        }
    }

    @Test("A server that has lost its socket makes way for another on the same data")
    func findsItsSocketLost() async throws {
        try await Home.with { home in
            let program = Program(home: home.path, ["GANNET_REDIS_IDLE": "5s"])
            _ = try await program.process("redis", "start")
            let pid = try #require(home.serverProcess)
            #expect(home.ask("SET city Bergen") == "+OK")
            try FileManager.default.removeItem(atPath: home.socket)
            let outcome = try await program.process("redis", "start")
            #expect(outcome.status == 0)
            #expect(home.serverProcess != pid)
            #expect(home.ask("STRLEN city") == ":6")
        }
    }

    @Test("No second server is ever started on the same data, and the first is named")
    func neverTwo() async throws {
        try await Home.with { home in
            let program = Program(home: home.path, [Times.variable: "succession=300ms"])
            _ = try await program.process("redis", "start")
            let pid = try #require(home.serverProcess)
            kill(try #require(home.supervisorProcess), SIGKILL)
            try FileManager.default.removeItem(atPath: home.socket)
            let outcome = try await program.process("redis", "start")
            #expect(outcome.status == 69)
            #expect(outcome.errors.contains("A Redis server (pid \(pid)) still runs on '\(home.folder)/data'"))
            #expect(isRunning(pid))
            kill(pid, SIGTERM)
            try await eventually("the server ends") { !isRunning(pid) }
        }
    }

    @Test("A server whose folder is removed ends")
    func folderRemoved() async throws {
        try await Home.with { home in
            _ = try await Program(home: home.path, ["GANNET_REDIS_IDLE": "5s"]).process("redis", "start")
            let pid = try #require(home.serverProcess)
            // Its server makes and removes files meanwhile, over which a removal may stumble.
            try await eventually("the folder is removed") {
                try? FileManager.default.removeItem(atPath: home.folder)
                return !FileManager.default.fileExists(atPath: home.folder)
            }
            try await eventually("the server ends") { !isRunning(pid) }
        }
    }

    @Test("A folder whose path is too long for a socket gets its socket elsewhere")
    func longPaths() async throws {
        var socket = ""
        try await Home.with(padding: 100) { home in
            let outcome = try await Program(home: home.path).process("redis", "start")
            #expect(outcome.status == 0)
            socket = outcome.output.replacing("unix://", with: "").trimmingCharacters(in: .newlines)
            #expect(socket.hasPrefix("/tmp/gannet-\(geteuid())-"))
            #expect(socket.utf8.count <= PrivateRedisFolder.longestSocketPath)
            #expect(ServerConnection.state(of: socket) == .ready)
        }
        try FileManager.default.removeItem(atPath: String(socket.dropLast("/redis.sock".count)))
    }

    @Test("Without redis-server it says how to get one")
    func notInstalled() async throws {
        try await Home.with { home in
            let outcome = try await Program(home: home.path, ["PATH": "/nonexistent"]).process("redis", "start")
            #expect(outcome.status == 69)
            #expect(outcome.errors.hasPrefix("Error: redis-server is not installed. Install it"))
            #expect(outcome.output == "")
        }
    }

    @Test("A server that ends at its start is quoted")
    func endsAtStart() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("redis", "start")
            #expect(home.ask("SET city Bergen") == "+OK")
            _ = try await program.process("redis", "stop")
            let files = home.folder + "/data/appendonlydir"
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: files).first { $0.hasSuffix(".incr.aof") })
            try "nonsense that is no command\r\nand more of it\r\n".write(toFile: files + "/" + name, atomically: false, encoding: .utf8)
            let outcome = try await program.process("redis", "start")
            #expect(outcome.status == 69)
            #expect(outcome.errors.contains("Bad file format reading the append only file"))
            #expect(outcome.errors.contains("redis.log"))
        }
    }

    @Test("A state folder that cannot be made is exit 74")
    func unwritable() async throws {
        let outcome = try await Program(home: "/proc/nothing/here").process("redis", "start")
        #expect(outcome.status == 74)
        #expect(outcome.errors.contains("Set GANNET_HOME to a folder that you can write."))
    }

    @Test("A link in the place of its folder is refused")
    func links() async throws {
        try await Home.with { home in
            try FileManager.default.createSymbolicLink(atPath: home.folder, withDestinationPath: "/tmp")
            let outcome = try await Program(home: home.path).process("redis", "start")
            #expect(outcome.status == 74)
            #expect(outcome.errors.contains("is not a folder of yours"))
            try FileManager.default.removeItem(atPath: home.folder)
        }
    }
}

extension Home {
    var socket: String { folder + "/redis.sock" }

    func ask(_ command: String) -> String? {
        ServerConnection.open(socket, within: .seconds(5))?.ask(command, within: .seconds(5))
    }
}
