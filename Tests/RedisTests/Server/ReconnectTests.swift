import GannetTestKit
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct ReconnectTests {
    @Test func `pending commands fail after a crash, and say that they may have been executed`() async throws {
        let server = try HostileServer(.readUntil("PING\r\n"), .send(greetingReply), .silence)
        let connection = try await RedisConnection.connect(server.configuration)
        let inFlight = Task { await failure { try await connection.send(RedisCommand("SET", "key", "value")) } }
        let pipeline = Task { await connection.pipeline([RedisCommand("PING"), RedisCommand("ECHO", "last")]) }
        try await server.received("value")
        try await server.received("last")
        try await server.stop()
        let error = await inFlight.value
        #expect(error?.kind == .connectionLost)
        #expect(error?.mayHaveExecuted == true)
        for result in await pipeline.value {
            guard case .failure(let error) = result else { return #expect(Bool(false)) }
            #expect(error.kind == .connectionLost && error.mayHaveExecuted)
        }
        await connection.close()
    }

    @Test func `a command that is sent during an outage is answered by the next server`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect()
        try await server.kill9()
        let script = RedisScript("return 7")
        let waiting = Task { try await connection.run(script, keys: []) }
        try await server.restart()
        #expect(try await waiting.value == .integer(7))
        await connection.close()
    }

    @Test func `a connection to a paused server is closed, and restored`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect {
            $0.commandTimeout = .milliseconds(200)
            $0.connectTimeout = .milliseconds(200)
        }
        server.pause()
        let error = await failure { try await connection.send(RedisCommand("GET", "key")) }
        #expect(error?.kind == .commandTimeout)
        #expect(error?.mayHaveExecuted == true)
        let next = await failure { try await connection.send(RedisCommand("GET", "key")) }
        #expect(next?.kind == .unavailable)
        #expect(next?.description.contains("did not answer") == true, "\(String(describing: next))")
        server.resume()
        try await eventually("a command is answered again") {
            await failure { try await connection.send(RedisCommand("GET", "key")) } == nil
        }
        await connection.close()
    }

    @Test func `commands of many tasks survive a connection that is killed again and again`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect()
        let outcome = await withTaskGroup(of: (wrong: Int, lost: Int).self) { group in
            for task in 0..<16 {
                group.addTask {
                    var (wrong, lost) = (0, 0)
                    for round in 0..<300 {
                        let text = "\(task).\(round)"
                        do {
                            if try await connection.send(RedisCommand("ECHO", .string(text))) != .bytes(Array(text.utf8)) { wrong += 1 }
                        } catch {
                            if (error as? RedisError)?.kind == .connectionLost { lost += 1 } else { wrong += 1 }
                        }
                    }
                    return (wrong, lost)
                }
            }
            group.addTask {
                for _ in 0..<20 { _ = try? await server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") }
                return (0, 0)
            }
            return await group.reduce(into: (wrong: 0, lost: 0)) { $0 = ($0.wrong + $1.wrong, $0.lost + $1.lost) }
        }
        #expect(outcome.wrong == 0)
        await connection.close()
    }

    @Test func `a server that greets late is waited for, within the time for connecting`() async throws {
        let good: [HostileServer.Step] = [.readUntil("PING\r\n"), .send(greetingReply)]
        let server = try HostileServer(scripts: [
            good + [.close], [.close], [.send("-LOADING wait\r\n"), .close], good + [.readUntil("GET"), .send("+late\r\n")],
        ])
        let connection = try await RedisConnection.connect(server.configuration)
        try await server.accepted(4)
        #expect(try await connection.send(RedisCommand("GET", "key")) == .status("late"))
        await connection.close()
    }
}
