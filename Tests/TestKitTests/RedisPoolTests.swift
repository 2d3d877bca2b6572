import GannetTestKit
import Testing

@Suite struct RedisPoolTests {
    @Test func `a server that comes back is empty, and the next test has it`() async throws {
        let pool = RedisPool()
        let server = try await pool.take()
        try await server.ask("SET", "key", "value")
        let script = try #require(try await server.ask("SCRIPT", "LOAD", "return 1").text)
        let watch = try await server.watch()
        server.pause()
        await pool.giveBack(server)
        // Its connection was closed.
        await #expect(throws: (any Error).self) { try await watch.saw("nothing like this") }
        try await pool.withServer { next in
            let keys = try await next.command("DBSIZE")
            #expect(next.pid == server.pid && keys == .integer(0))
            #expect(try await next.command("SCRIPT", "EXISTS", script) == .list([.integer(0)]))
            #expect(try await next.info("INFO", "commandstats")["cmdstat_set"] == nil)
        }
    }

    @Test func `a server whose settings or users were changed does not come back`() async throws {
        let pool = RedisPool()
        for change in [["CONFIG", "SET", "maxmemory", "100mb"], ["ACL", "SETUSER", "somebody"]] {
            let server = try await pool.take()
            #expect(try await server.command(change) == .text("OK"))
            await pool.giveBack(server)
            try await pool.withServer { #expect($0.pid != server.pid) }
        }
    }

    @Test func `a server that has ended, or whose test has failed, does not come back`() async throws {
        let pool = RedisPool()
        let ended = try await pool.take(.tcp)
        try await ended.kill9()
        await pool.giveBack(ended, .tcp)
        var failed: RedisServer?
        await #expect(throws: KitError.self) {
            try await pool.withServer(.tcp) { server in
                failed = server
                throw KitError("the test has failed")
            }
        }
        try await pool.withServer(.tcp) { #expect($0.pid != ended.pid && $0.pid != failed?.pid && $0.port != nil) }
    }

    @Test func `a clock that was moved and stopped is as far as real time for the next test`() async throws {
        let pool = RedisPool()
        var pid: Int32 = 0
        try await pool.withServer(.clock) { server in
            server.clock.stop()
            server.clock.advance(by: .seconds(1000))
            pid = server.pid
        }
        try await pool.withServer(.clock) { server in
            #expect(server.pid == pid)
            #expect(server.clock.offset == .zero)
            let start = try await server.command("TIME")
            try await eventually("the clock goes on") { try await server.command("TIME") != start }
        }
    }

    @Test func `a cluster comes back empty, and does not where a slot has moved`() async throws {
        let pool = RedisPool()
        let first = try await pool.takeCluster(primaries: 2)
        let owner = try await first.owner(of: 0)
        try await owner.ask("SET", "{la2}key", "value")
        await pool.giveBack(first)
        let second = try await pool.takeCluster(primaries: 2)
        #expect(second === first)
        #expect(try await owner.command("DBSIZE") == .integer(0))
        let other = second.nodes[1]
        try await second.move(0, from: owner, to: other)
        await pool.giveBack(second)
        try await pool.withCluster(primaries: 2) { #expect($0 !== first) }
    }
}
