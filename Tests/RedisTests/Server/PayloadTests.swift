import GannetTestKit
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct PayloadTests {
    static let tenMegabytes: [UInt8] = {
        var random = SeededBytes(seed: 10)
        return [UInt8](unsafeUninitializedCapacity: 10_000_000) { buffer, count in
            for index in stride(from: 0, to: 10_000_000, by: 8) {
                UnsafeMutableRawBufferPointer(buffer).storeBytes(of: random.next(), toByteOffset: index, as: UInt64.self)
            }
            count = 10_000_000
        }
    }()

    @Test func `ten megabytes of all bytes go there and back unchanged`() async throws {
        let server = try await RedisServer.start()
        defer { withExtendedLifetime(server) {} }
        let connection = try await server.connect()
        let body = Self.tenMegabytes
        try await connection.send(RedisCommand("SET", "key", .bytes(body)))
        let same = try await connection.send(RedisCommand("GET", "key")) == .bytes(body)
        #expect(same)
        await connection.close()
    }

    @Test func `large and small commands of many tasks keep their order and their bytes`() async throws {
        let server = try await RedisServer.start()
        defer { withExtendedLifetime(server) {} }
        let connection = try await server.connect()
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<20 {
                group.addTask {
                    var wrong = 0
                    for round in 0..<20 {
                        let size = [0, 1, 1000, 16_383, 16_384, 16_385, 200_000][(task + round) % 7]
                        let body = [UInt8](repeating: UInt8(task * 10 % 251), count: size)
                        let reply = await connection.pipeline([RedisCommand("ECHO", .bytes(body)), RedisCommand("ECHO", .integer(task))])
                        if reply != [.success(.bytes(body)), .success(.bytes(Array("\(task)".utf8)))] { wrong += 1 }
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
        await connection.close()
    }

    @Test func `empty arguments, odd bytes and integers arrive unchanged`() async throws {
        let connection = try await RedisServer.shared.connect()
        let bytes = [UInt8](0...255)
        #expect(try await connection.send(RedisCommand("ECHO", "")) == .bytes([]))
        #expect(try await connection.send(RedisCommand("ECHO", .bytes([]))) == .bytes([]))
        #expect(try await connection.send(RedisCommand("ECHO", .bytes(bytes))) == .bytes(bytes))
        #expect(try await connection.send(RedisCommand("ECHO", .integer(Int.min))) == .bytes(Array("\(Int.min)".utf8)))
        #expect(await failure { try await connection.send(RedisCommand("")) }?.kind == .other)
        await connection.close()
    }

    @Test func `a pipeline of a hundred thousand is answered in order`() async throws {
        let server = try await RedisServer.start()
        defer { withExtendedLifetime(server) {} }
        let connection = try await server.connect()
        let results = await connection.pipeline((0..<100_000).map { RedisCommand("ECHO", .integer($0)) }, timeout: .seconds(60))
        #expect(results.count == 100_000)
        let wrong = results.indices.count { results[$0] != .success(.bytes(Array("\($0)".utf8))) }
        #expect(wrong == 0)
        #expect(await connection.pipeline([]).isEmpty)
        await connection.close()
    }

    @Test func `arrays nest, with errors inside`() async throws {
        let connection = try await RedisServer.shared.connect()
        let script = RedisScript("return {1, {'two', {false, redis.error_reply('OOM inside')}}, redis.status_reply('fine')}")
        let reply = try await connection.run(script, keys: [])
        let server = connection.configuration.address.description
        let inside = RedisReply.error(RedisError(.outOfMemory, "inside", server: server))
        #expect(reply == .array([.integer(1), .array([.bytes(Array("two".utf8)), .array([.null, inside])]), .status("fine")]))
        await connection.close()
    }

    @Test func `each database is its own`() async throws {
        let server = try await RedisServer.start()
        let one = try await server.connect {
            $0.database = 1
            $0.clientName = "worker-1"
        }
        let zero = try await RedisConnection.connect(RedisConfiguration(url: "unix://\(server.socketPath)"))
        try await one.send(RedisCommand("SET", "key", "one"))
        #expect(try await zero.send(RedisCommand("GET", "key")) == .null)
        #expect(try await one.send(RedisCommand("CLIENT", "GETNAME")).asString() == "worker-1")
        try await zero.send(RedisCommand("CLIENT", "KILL", "SKIPME", "yes"))
        try await eventually("the connection is in its database again") {
            (try? await one.send(RedisCommand("GET", "key"))) == .bytes(Array("one".utf8))
        }
        await one.close()
        await zero.close()
    }
}
