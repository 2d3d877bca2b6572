import GannetTestKit
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct CancellationTests {
    @Test func `a hundred cancelled calls among ten thousand leave the others their own replies`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect()
        let tasks = (0..<10_000).map { number in
            Task { () -> Result<RedisReply, RedisError> in
                await connection.pipeline([RedisCommand("ECHO", .integer(number))])[0]
            }
        }
        for number in stride(from: 0, to: 10_000, by: 100) { tasks[number].cancel() }
        var wrong = 0
        for (number, task) in tasks.enumerated() {
            switch await task.value {
            case .success(let reply): if reply != .bytes(Array("\(number)".utf8)) { wrong += 1 }
            case .failure(let error): if error.kind != .cancelled || number % 100 != 0 { wrong += 1 }
            }
        }
        #expect(wrong == 0)
        #expect(try await connection.send(RedisCommand("ECHO", "after")) == .bytes(Array("after".utf8)))
        await connection.close()
    }

    @Test func `a task that is cancelled already sends nothing`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect()
        let task = Task { () -> RedisError? in
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { try await connection.send(RedisCommand("SET", "key", "value")) }
        }
        let error = await task.value
        #expect(error?.kind == .cancelled)
        #expect(error?.mayHaveExecuted == false)
        #expect(try await connection.send(RedisCommand("EXISTS", "key")) == .integer(0))
        await connection.close()
    }

    @Test func `a pending call ends at once when cancelled, and the next one gets its own reply`() async throws {
        let server = try await RedisServer.start()
        defer { withExtendedLifetime(server) {} }
        let connection = try await server.connect()
        let task = Task { await failure { try await connection.send(RedisCommand("BLPOP", "list", 60)) } }
        try await eventually("the command blocks") { try await self.blocked(connection) }
        task.cancel()
        let error = await task.value
        #expect(error?.kind == .cancelled)
        #expect(error?.mayHaveExecuted == true)
        try await server.command("LPUSH", "list", "not mine")
        #expect(try await connection.send(RedisCommand("ECHO", "mine")) == .bytes(Array("mine".utf8)))
        await connection.close()
    }

    private func blocked(_ connection: RedisConnection) async throws -> Bool {
        // The other connection sees what the blocked one cannot tell.
        let other = try await RedisConnection.connect(connection.configuration)
        let text = try await other.send(RedisCommand("INFO", "clients")).asString()
        await other.close()
        return text.contains("blocked_clients:1")
    }

    @Test func `a command that is cancelled or expires without a connection is never executed`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect()
        try await server.kill9()
        let lost = await failure { try await connection.send(RedisCommand("PING"), timeout: .milliseconds(50)) }
        #expect(lost != nil)
        let cancelled = Task { await failure { try await connection.send(RedisCommand("SET", "cancelled", 1)) } }
        let expired = Task { await failure { try await connection.send(RedisCommand("SET", "expired", 1), timeout: .milliseconds(50)) } }
        let waiting = Task { await failure { try await connection.send(RedisCommand("SET", "waiting", 1)) } }
        let error = await expired.value
        #expect(error?.kind == .unavailable)
        #expect(error?.mayHaveExecuted == false)
        #expect(error?.description.contains("The last attempt:") == true, "\(String(describing: error))")
        cancelled.cancel()
        #expect(await cancelled.value?.mayHaveExecuted == false)
        try await server.restart()
        #expect(await waiting.value == nil)
        #expect(try await connection.send(RedisCommand("EXISTS", "cancelled", "expired", "waiting")) == .integer(1))
        await connection.close()
    }

    @Test func `a cancelled connect leaves`() async throws {
        let server = try HostileServer(.silence)
        let configuration = server.configuration
        let task = Task { await refusal(configuration) }
        try await server.received("PING")
        task.cancel()
        #expect(await task.value?.kind == .cancelled)
        try await server.stop()
    }
}
