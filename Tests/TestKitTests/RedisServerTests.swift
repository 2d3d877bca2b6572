import GannetTestKit
import Testing

@Suite struct RedisServerTests {
    @Test func `the shared server answers on its socket and says its version`() async throws {
        let server = try await RedisServer.shared
        #expect(try await server.command("PING") == .text("PONG"))
        #expect(server.version.first?.isNumber == true)
        #expect(try await RedisServer.shared.pid == server.pid)
    }

    @Test func `a stopped server leaves no process`() async throws {
        let server = try await RedisServer.start()
        try await server.stop()
        #expect(try await server.process.exitStatus == .exited(0))
        await #expect(throws: KitError.self) { try await server.command("PING") }
    }

    @Test func `with an append-only file a write outlives a crash, without one it does not`() async throws {
        for appendOnly in [true, false] {
            let server = try await RedisServer.start(.init { $0.appendOnly = appendOnly })
            try await server.command("SET", "key", "value")
            try await server.kill9()
            #expect(try await server.process.exitStatus == .signalled(9))
            try await server.restart()
            #expect(try await server.command("GET", "key") == (appendOnly ? .text("value") : .null))
        }
    }

    @Test func `a paused server is silent until it is resumed`() async throws {
        let server = try await RedisServer.start()
        server.pause()
        async let answer = server.command("PING")
        server.resume()
        #expect(try await answer == .text("PONG"))
        server.pause()
        try await server.stop()
    }

    @Test func `wrong arguments are an error with the server's own words`() async throws {
        await #expect {
            _ = try await RedisServer.start(.init { $0.arguments = ["--no-such-setting", "1"] })
        } throws: { "\($0)".contains("no-such-setting") }
    }

    @Test func `a server can have a TCP port beside its socket`() async throws {
        let server = try await RedisServer.start(.init { $0.listensOnTCP = true })
        #expect(server.port != 6379)
        #expect(try await server.command("CONFIG", "GET", "port") == .list([.text("port"), .text("\(server.port!)")]))
    }

    @Test func `a clock that was stopped goes only as far as it is moved`() async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        server.clock.stop()
        let start = try await server.command("TIME")
        #expect(try await server.command("TIME") == start)
        server.clock.advance(by: .seconds(2))
        guard case .list(let before) = start, case .list(let after) = try await server.command("TIME") else { throw KitError("no TIME") }
        #expect(Int(after[0].text!)! == Int(before[0].text!)! + 2 && after[1] == before[1])
        try await server.stop()
    }

    @Test func `a moved clock moves TIME and the expiry of keys, forwards and back`() async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        func time() async throws -> Int {
            guard case .list(let parts) = try await server.command("TIME") else { throw KitError("no TIME") }
            return Int(parts[0].text!)!
        }
        let start = try await time()
        try await server.command("SET", "short", "x", "EX", "100")
        try await server.command("SET", "long", "x", "EX", "10000")
        server.clock.advance(by: .seconds(1000))
        #expect((1000..<1060).contains(try await time() - start))
        #expect(try await server.command("EXISTS", "short") == .integer(0))
        #expect(try await server.command("EXISTS", "long") == .integer(1))
        server.clock.advance(by: .seconds(-3000))
        #expect((-2000 ..< -1940).contains(try await time() - start))
        #expect(server.clock.offset == .seconds(-2000))
        try await server.restart()
        #expect((-2000 ..< -1940).contains(try await time() - start))
    }

    @Test func `a stopped clock goes only as far as it is moved`() async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        server.clock.stop()
        let start = try await server.command("TIME")
        // Each starts a connection and a thread: real time goes on by more than the microsecond that TIME tells.
        for _ in 0..<20 { #expect(try await server.command("TIME") == start) }
        server.clock.advance(by: .seconds(5))
        guard case .list(let before) = start, case .list(let after) = try await server.command("TIME") else { throw KitError("no TIME") }
        #expect(Int(after[0].text!)! - Int(before[0].text!)! == 5 && after[1] == before[1])
    }
}
