import GannetTestKit
import Testing

@Suite struct HostileServerTests {
    private func curl(_ server: HostileServer, _ arguments: String...) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(.init("curl", arguments + ["--silent", "--noproxy", "*", "http://127.0.0.1:\(server.port)/path"]))
    }

    @Test func `connections run their scripts in turn, the last one for all that follow`() async throws {
        let script = { (body: String) -> [HostileServer.Step] in
            [.readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\(body)"), .close]
        }
        let server = try HostileServer(scripts: [script("one"), script("two")])
        #expect(try await curl(server).output == "one")
        #expect(try await curl(server).output == "two")
        #expect(try await curl(server).output == "two")
        #expect(server.connections == 3)
        #expect(String(decoding: server.received(by: 2), as: UTF8.self).hasPrefix("GET /path HTTP/1.1\r\n"))
        try await server.stop()
        #expect(try await curl(server).status == .exited(7))
    }

    @Test func `a reply can be cut, and a connection reset`() async throws {
        let cut = try HostileServer(.readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close)
        let outcome = try await curl(cut)
        #expect(outcome.status == .exited(18))
        #expect(outcome.output == "half")
        let reset = try HostileServer(.read(3), .reset)
        #expect(try await curl(reset).status == .exited(56))
    }

    @Test func `a silent and a deaf server say nothing until they are stopped`() async throws {
        for step in [HostileServer.Step.silence, .deafness] {
            let server = try HostileServer(step)
            async let outcome = curl(server)
            try await server.accepted(1)
            if case .silence = step { try await server.received("GET /path") }
            try await server.stop()
            #expect(try await [.exited(52), .exited(56)].contains(outcome.status))
        }
    }

    @Test func `a server can be on a Unix socket, and be no Redis at all`() async throws {
        let folder = try TemporaryFolder()
        let server = try HostileServer(unixSocket: folder.file("socket"), .readUntil("\r\n\r\n"), .send("SSH-2.0-OpenSSH_9.2\r\n"), .close)
        let arguments = ["--silent", "--http0.9", "--unix-socket", folder.file("socket"), "http://localhost/"]
        #expect(try await ChildProcess.run(.init("curl", arguments)).output == "SSH-2.0-OpenSSH_9.2\r\n")
        try await server.stop()
    }
}
