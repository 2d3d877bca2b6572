import GannetTestKit
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct ScriptTests {
    private let script = RedisScript("return ARGV[1] + 1")

    @Test func `a thousand pending calls do not notice SCRIPT FLUSH`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect()
        let admin = try await server.connect()
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<100 {
                group.addTask { [script] in
                    var wrong = 0
                    for round in 0..<20 {
                        let number = task * 1000 + round
                        do {
                            let reply = try await connection.run(script, keys: [], [.integer(number)])
                            if reply != .integer(number + 1) { wrong += 1 }
                        } catch { wrong += 1 }
                    }
                    return wrong
                }
            }
            for task in 0..<90 {
                group.addTask { [script] in
                    let commands = (0..<10).flatMap {
                        [
                            RedisCommand(script: script, keys: [], arguments: [.integer(task * 1000 + $0)]),
                            RedisCommand("ECHO", .integer(task * 1000 + $0)),
                        ]
                    }
                    let results = await connection.pipeline(commands)
                    return results.indices.count { index in
                        let number = task * 1000 + index / 2
                        let expected: RedisReply = index % 2 == 0 ? .integer(number + 1) : .bytes(Array("\(number)".utf8))
                        return results[index] != .success(expected)
                    }
                }
            }
            group.addTask {
                var failures = 0
                for _ in 0..<200 { failures += await failure { try await admin.send(RedisCommand("SCRIPT", "FLUSH")) } == nil ? 0 : 1 }
                return failures
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
        await connection.close()
        await admin.close()
    }

    @Test func `a pipeline with a SCRIPT FLUSH in it is answered in order`() async throws {
        let server = try await RedisServer.start()
        defer { withExtendedLifetime(server) {} }
        let connection = try await server.connect()
        let commands = (0..<1000).map { number in
            number % 10 == 9 ? RedisCommand("SCRIPT", "FLUSH") : RedisCommand(script: script, keys: [], arguments: [.integer(number)])
        }
        let results = await connection.pipeline(commands)
        let wrong = results.indices.first { number in
            results[number] != .success(number % 10 == 9 ? .status("OK") : .integer(number + 1))
        }
        #expect(wrong == nil, "\(wrong.map { "\(results[$0])" } ?? "")")
        await connection.close()
    }

    @Test func `the digest is the server's own`() async throws {
        let connection = try await RedisServer.shared.connect()
        for source in ["return 1", "return 'ü'", ""] {
            let script = RedisScript(source)
            #expect(try await connection.send(RedisCommand("SCRIPT", "LOAD", .string(source))).asString() == script.digest)
        }
        await connection.close()
    }
}
