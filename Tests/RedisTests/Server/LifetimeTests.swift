import GannetTestKit
import Testing

@testable import GannetRedisClient

@Suite(.serialized, .timeLimit(.minutes(3))) struct LifetimeTests {
    @Test func `closing fails what waits, refuses what follows and can be done twice`() async throws {
        let server = try HostileServer(.readUntil("PING\r\n"), .send(greetingReply), .silence)
        let connection = try await RedisConnection.connect(server.configuration)
        let waiting = Task { await failure { try await connection.send(RedisCommand("GET", "key")) } }
        try await server.received("GET")
        await connection.close()
        #expect(await waiting.value?.kind == .closed)
        let late = await failure { try await connection.send(RedisCommand("GET", "key")) }
        #expect(late?.kind == .closed)
        #expect(late?.mayHaveExecuted == false)
        await connection.close()
    }

    @Test func `a close under load returns, and no call is left waiting`() async throws {
        let server = try await RedisServer.start()
        for _ in 0..<50 {
            let connection = try await server.connect()
            let tasks = (0..<20).map { _ in
                Task { () -> RedisError.Kind? in
                    while true {
                        if let error = await failure({ try await connection.send(RedisCommand("PING")) }) { return error.kind }
                    }
                }
            }
            try await connection.send(RedisCommand("PING"))
            await connection.close()
            for task in tasks { #expect(await task.value == .closed) }
        }
    }

    @Test func `four hundred closed, failed or released connections leave no thread and no descriptor`() async throws {
        let server = try await RedisServer.start()
        let certificates = try await Certificates.shared
        let secured = try await RedisServer.start(.init { $0.tls = certificates.redisTLS(certificates.good) })
        let tls = RedisConfiguration.quick(.tcp(host: "127.0.0.1", port: Int(secured.tlsPort!), tls: true))
        let trusting = tls.with { $0.tls.authorityFile = certificates.authority }
        let (threads, descriptors) = (threadCount(named: "redis"), descriptorCount())
        for _ in 0..<80 {
            await (try server.connect()).close()
            _ = try await server.connect()
            #expect(await refusal(.quick(.unix(path: "/none"))) != nil)
            #expect(await refusal(trusting) == nil)
            #expect(await refusal(tls) != nil)
        }
        // Other tests run beside this one.
        try await eventually("the connections' threads and descriptors are gone") {
            threadCount(named: "redis") < threads + 100 && descriptorCount() < descriptors + 150
        }
        try await eventually("the server has no client but the one that asks") {
            try await server.command("CLIENT", "LIST").text?.split(separator: "\n").count == 1
        }
    }

    @Test func `an idle connection takes no processor time`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect()
        guard case .text(let before) = try await server.command("INFO", "commandstats") else { throw KitError("INFO has no text") }
        // A tenth of a second of the server's time, in which nothing may happen.
        try await server.command("BLPOP", "nothing", "0.1")
        guard case .text(let after) = try await server.command("INFO", "commandstats") else { throw KitError("INFO has no text") }
        #expect(before.contains("cmdstat_ping:calls=1") && after.contains("cmdstat_ping:calls=1"))
        await connection.close()
    }
}
