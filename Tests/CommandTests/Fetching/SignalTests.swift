import Foundation
import GannetTestKit
import Testing

/// Signals at moments when a command waits for something else.
@Suite(.timeLimit(.minutes(2))) struct SignalTests {
    @Test(arguments: [
        ["run", "-d", "out", "http://h/"], ["work"], ["enqueue", "http://h/"], ["status", "--watch", "--json"],
        ["get", "--fetch", "http://h/"],
    ])
    func `a signal ends a command that waits for a Redis which does not answer`(words: [String]) async throws {
        let silent = try HostileServer(scripts: [[.silence]])
        let folder = try TemporaryFolder()
        let words = words.map { $0 == "out" ? folder.file("out") : $0 } + ["--redis", "redis://127.0.0.1:\(silent.port)"]
        let child = try ChildProcess(.init(Program.path, words, environment: Program(home: folder.path).environment))
        try await silent.accepted(1)
        child.signal(SIGINT)
        // The connection would be given up after five seconds, with another status.
        #expect(try await child.exitStatus == .exited(130), "\(child.errors.text)")
        try await silent.stop()
    }

    @Test func `a fetch that is interrupted gives its URL up`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let silent = try HostileServer(scripts: [[.silence]])
        let url = "http://127.0.0.1:\(silent.port)/x"
        let child = try fleet.start(["get", "--fetch", url] + fleet.local + fleet.connection)
        try await silent.accepted(1)
        child.signal(SIGINT)
        #expect(try await child.exitStatus == .exited(130))
        #expect(try await fleet.keys("{gannet}locks") == [])
        try await silent.stop()
        try await fleet.stop()
    }

    @Test func `a fetch extends its lease, and when it is killed a caller who waits has its URL`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let server = try HostileServer(scripts: [[.silence], [.readUntil("\r\n\r\n"), .send(answer), .close]])
        let words = ["get", "--fetch", "http://127.0.0.1:\(server.port)/x", "--lease", "2s"] + fleet.local + fleet.connection
        let fetching = try fleet.start(words)
        try await server.accepted(1)
        // Lease time began with this Redis, and its unit is a millisecond.
        func end() async throws -> Double {
            guard case .list(let entry) = try await fleet.answers(of: "{gannet}leases", "ZRANGE", "0", "0", "WITHSCORES").first,
                entry.count == 2,
                case .text(let score) = entry[1]
            else { throw KitError("there is no lease") }
            return Double(score) ?? 0
        }
        let first = try await end()
        #expect(first < 6000)
        let waiting = try fleet.start(words)
        try await eventually("the lease goes on beyond its first end") { try await end() >= first + 2000 }
        #expect(server.connections == 1 && waiting.isRunning)
        fetching.kill()
        #expect(try await waiting.exitStatus == .exited(0), "\(waiting.errors.text)")
        #expect(server.connections == 2)
        try await server.stop()
        try await fleet.stop()
    }

    @Test func `SIGQUIT ends a run as it ends other programs`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gate = try fleet.gateList(after: 0)
        let child = try fleet.start(fleet.run)
        try await gate.accepted(1)
        child.signal(SIGQUIT)
        guard case .signalled(SIGQUIT) = try await child.exitStatus else {
            Issue.record("\(child.errors.text)")
            return
        }
        #expect(!child.errors.text.contains("crash"))
        try await gate.stop()
        try await fleet.stop()
    }
}
