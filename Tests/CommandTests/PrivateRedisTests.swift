import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetCommand

/// Each command without '--redis' uses the private Redis. `status` is the shortest of them.
@Suite(.timeLimit(.minutes(2))) struct PrivateRedisTests {
    /// A command's words, without those about a queue that nobody has used.
    private func told(_ outcome: Program.Outcome) -> String {
        outcome.errors.replacing("gannet: there is no queue 'default': nothing was put into it, or it was purged.\n", with: "")
    }

    @Test("It is started once for any number of commands, and only the one that started it says so, on standard error")
    func startsOnce() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            let outcomes = try await withThrowingTaskGroup { group in
                for _ in 1...6 { group.addTask { try await program.process("status") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.map(\.status) == Array(repeating: 0, count: 6))
            #expect(
                outcomes.map(told).sorted() == Array(repeating: "", count: 5) + [
                    "gannet: Started a private Redis, which keeps its data in \(home.folder); it stops 30s after its last use.\n"
                ])
            let verbose = try await program.process("status", "--verbose")
            #expect(told(verbose) == "gannet: using the private Redis at unix://\(home.folder)/redis.sock\n")
            let quiet = try await program.process("status", "--quiet")
            #expect(told(quiet) == "")
        }
    }

    @Test("Its folder and socket are for its owner alone, and its session is its own")
    func isPrivate() async throws {
        try await Home.with { home in
            _ = try await Program(home: home.path).process("status")
            for path in [home.folder, home.folder + "/data", home.folder + "/redis.sock"] {
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o700)
            }
            let pid = try #require(home.serverProcess)
            #expect(getsid(pid) != getsid(0))
            #expect(home.keeperProcess != nil)
        }
    }

    @Test("Stopping it is at once, removes the socket, keeps the data, and is no error when it does not run")
    func stops() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("status")
            let (pid, keeper) = (try #require(home.serverProcess), try #require(home.keeperProcess))
            #expect(try await home.ask("SET", "city", "Bergen") == "OK")
            let stopped = try await program.process("redis", "stop")
            #expect(stopped.status == 0)
            #expect(stopped.errors == "gannet: Stopped the private Redis.\n")
            #expect(!FileManager.default.fileExists(atPath: home.socket))
            try await eventually("the server and its keeper end") { !isRunning(pid) && !isRunning(keeper) }
            let again = try await program.process("redis", "stop")
            #expect(again.status == 0)
            #expect(again.errors == "gannet: The private Redis was not running.\n")
            _ = try await program.process("status")
            #expect(try await home.ask("GET", "city") == "Bergen")
        }
    }

    @Test("Killed, it comes back with its data for the next command, over the socket it left behind")
    func comesBack() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("status")
            let pid = try #require(home.serverProcess)
            #expect(try await home.ask("SET", "city", "Bergen") == "OK")
            // Written to the kernel before the answer was sent; a killed process takes nothing of that along.
            kill(pid, SIGKILL)
            try await eventually("the server is gone") { !isRunning(pid) }
            #expect(FileManager.default.fileExists(atPath: home.socket))
            let outcome = try await program.process("status")
            #expect(outcome.status == 0)
            #expect(home.serverProcess != pid)
            #expect(try await home.ask("GET", "city") == "Bergen")
        }
    }

    @Test("It ends when it has been idle, and its keeper with it, also when the command that started it was killed")
    func endsWhenIdle() async throws {
        try await Home.with { home in
            let program = Program(home: home.path, ["GANNET_REDIS_IDLE": "300ms"])
            let user = try ChildProcess(.init(Program.path, ["status", "--watch"], environment: program.environment))
            _ = try await user.output.line { !$0.isEmpty }
            let (pid, keeper) = (try #require(home.serverProcess), try #require(home.keeperProcess))
            user.signal(SIGKILL)
            try await eventually("the server and its keeper end") { !isRunning(pid) && !isRunning(keeper) }
            #expect(!FileManager.default.fileExists(atPath: home.socket))
        }
    }

    @Test("It does not end while a command uses it, though that takes longer than the idle time")
    func staysInUse() async throws {
        try await Home.with { home in
            let program = Program(home: home.path, ["GANNET_REDIS_IDLE": "100ms"])
            let environment = PrivateRedisEnvironment(program.environment, workingFolder: "/")
            let folder = try PrivateRedisFolder.prepare(home: environment.home)
            let users = try #require(FileLock.take(folder.usersLock, .shared))
            _ = try await program.process("status")
            let pid = try #require(home.serverProcess)
            // A server without users that starts later ends when it has been idle. So this one has been idle for longer.
            try await Home.with { other in
                _ = try await Program(home: other.path, ["GANNET_REDIS_IDLE": "300ms"]).process("status")
                let pid = try #require(other.serverProcess)
                try await eventually("the idle server ends") { !isRunning(pid) }
            }
            #expect(isRunning(pid))
            withExtendedLifetime(users) {}
        }
    }

    @Test("Stopping it while a command uses it takes a yes, and the refusal names that command")
    func staysForOthers() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            let user = try ChildProcess(.init(Program.path, ["status", "--watch", "--json"], environment: program.environment))
            _ = try await user.output.line { !$0.isEmpty }
            let pid = try #require(home.serverProcess)
            let refused = try await program.process("redis", "stop")
            #expect(refused.status == 64)
            #expect(
                refused.errors.hasPrefix(
                    "Error: The private Redis is in use by 'gannet status' (process \(user.pid)), and there is no terminal to ask at: say '--yes' to do it."
                ), "\(refused.errors)")
            #expect(isRunning(pid) && FileManager.default.fileExists(atPath: home.socket))
            let stopped = try await program.process("redis", "stop", "--yes")
            #expect(stopped.status == 0 && stopped.errors == "gannet: Stopped the private Redis, though other commands were using it.\n")
            try await eventually("the server ends") { !isRunning(pid) }
            user.kill()
            _ = try await user.exitStatus
        }
    }

    @Test("A command goes on when the one that started the server is killed")
    func outlivesItsStarter() async throws {
        try await Home.with { home in
            let environment = Program(home: home.path, ["GANNET_REDIS_IDLE": "100ms"]).environment
            let users = try ["first", "second"].map { _ in
                try ChildProcess(.init(Program.path, ["status", "--watch", "--json"], environment: environment))
            }
            for user in users { _ = try await user.output.line { $0.hasPrefix("{") } }
            let pid = try #require(home.serverProcess)
            let isStarter = users.map { $0.errors.text.contains("Started a private Redis") }
            #expect(isStarter.count { $0 } == 1)
            let (starter, other) = isStarter[0] ? (users[0], users[1]) : (users[1], users[0])
            starter.signal(SIGKILL)
            // They take longer than the idle time.
            try await eventually("the other looks ten times") {
                other.output.text.split(separator: "\n").count { $0.hasPrefix("{") } >= 10
            }
            #expect(home.serverProcess == pid && isRunning(pid))
            #expect(other.errors.text == "")
        }
    }

    @Test(
        "A server whose keeper is killed or asked to end does so in order, and its data is there for the next command",
        arguments: [SIGKILL, SIGTERM])
    func endsWithItsKeeper(signal: Int32) async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("status")
            let pid = try #require(home.serverProcess)
            #expect(try await home.ask("SET", "city", "Bergen") == "OK")
            kill(try #require(home.keeperProcess), signal)
            try await eventually("the server ends") { !isRunning(pid) }
            #expect(!FileManager.default.fileExists(atPath: home.socket))
            #expect(try await program.process("status").status == 0)
            #expect(try await home.ask("GET", "city") == "Bergen")
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

            let first = try ChildProcess(.init(Program.path, ["status"], environment: program.environment))
            // Its server waits at the gate: a writer finds it open as soon as there is a reader.
            var writer: Int32 = -1
            try await eventually("the server waits at the gate") {
                writer = open(gate, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                return writer >= 0
            }
            defer { close(writer) }
            first.signal(SIGKILL)
            try await eventually("the keeper has noted its server") { home.serverProcess != nil }
            let server = home.serverProcess
            let second = Task { try await program.process("status") }
            #expect(write(writer, "go\n", 3) == 3)
            #expect(try await second.value.status == 0)
            #expect(home.serverProcess == server)
        }
    }

    @Test("A server that has lost its socket makes way for another on the same data")
    func findsItsSocketLost() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("status")
            let pid = try #require(home.serverProcess)
            #expect(try await home.ask("SET", "city", "Bergen") == "OK")
            try FileManager.default.removeItem(atPath: home.socket)
            let outcome = try await program.process("status")
            #expect(outcome.status == 0)
            #expect(home.serverProcess != pid)
            #expect(try await home.ask("GET", "city") == "Bergen")
        }
    }

    @Test("No second server is ever started on the same data, and the first is named")
    func neverTwo() async throws {
        try await Home.with { home in
            let program = Program(home: home.path, [Times.variable: "succession=300ms"])
            _ = try await program.process("status")
            let (pid, keeper) = (try #require(home.serverProcess), try #require(home.keeperProcess))
            // It would end the server.
            kill(keeper, SIGSTOP)
            try FileManager.default.removeItem(atPath: home.socket)
            let outcome = try await program.process("status")
            #expect(outcome.status == 69)
            #expect(outcome.errors.contains("A Redis server (pid \(pid)) still runs on '\(home.folder)/data'"))
            #expect(isRunning(pid))
            kill(keeper, SIGCONT)
            try await eventually("the server ends") { !isRunning(pid) }
        }
    }

    @Test("A server whose folder is removed ends")
    func folderRemoved() async throws {
        try await Home.with { home in
            _ = try await Program(home: home.path).process("status")
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
            let outcome = try await Program(home: home.path).process("status", "--verbose")
            #expect(outcome.status == 0)
            let again = try await Program(home: home.path).process("status", "--verbose")
            let words = "gannet: using the private Redis at unix://"
            #expect(told(again).hasPrefix(words))
            socket = told(again).dropFirst(words.count).trimmingCharacters(in: .newlines)
            #expect(socket.hasPrefix("/tmp/gannet-\(geteuid())-"))
            #expect(socket.utf8.count <= PrivateRedisFolder.longestSocketPath)
            #expect(try await ChildProcess.succeed("redis-cli", ["-s", socket, "PING"]) == "PONG\n")
        }
        try FileManager.default.removeItem(atPath: String(socket.dropLast("/redis.sock".count)))
    }

    @Test("Without redis-server it says how to get one")
    func notInstalled() async throws {
        try await Home.with { home in
            let outcome = try await Program(home: home.path, ["PATH": "/nonexistent"]).process("status")
            #expect(outcome.status == 69)
            #expect(outcome.errors.hasPrefix("Error: redis-server is not installed. Install it"))
            #expect(outcome.output == "")
        }
    }

    @Test("A server that ends at its start is quoted")
    func endsAtStart() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("status")
            #expect(try await home.ask("SET", "city", "Bergen") == "OK")
            _ = try await program.process("redis", "stop")
            let files = home.folder + "/data/appendonlydir"
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: files).first { $0.hasSuffix(".incr.aof") })
            try "nonsense that is no command\r\nand more of it\r\n".write(toFile: files + "/" + name, atomically: false, encoding: .utf8)
            let outcome = try await program.process("status")
            #expect(outcome.status == 69)
            #expect(outcome.errors.contains("redis.log): Bad file format reading the append only file"))
        }
    }

    @Test("People cannot start its keeper, which would run a second server")
    func keepsToItself() async throws {
        try await Home.with { home in
            let outcome = try await Program(home: home.path).process("redis", "keep")
            #expect(outcome.status == 64)
            #expect(home.serverProcess == nil)
        }
    }

    @Test("A state folder that cannot be made is exit 74")
    func unwritable() async throws {
        let outcome = try await Program(home: "/proc/nothing/here").process("status")
        #expect(outcome.status == 74)
        #expect(outcome.errors.contains("Set GANNET_HOME to a folder that you can write."))
    }

    @Test("A link in the place of its folder is refused")
    func links() async throws {
        try await Home.with { home in
            try FileManager.default.createSymbolicLink(atPath: home.folder, withDestinationPath: "/tmp")
            let outcome = try await Program(home: home.path).process("status")
            #expect(outcome.status == 74)
            #expect(outcome.errors.contains("is not a folder of yours"))
            try FileManager.default.removeItem(atPath: home.folder)
        }
    }
}
