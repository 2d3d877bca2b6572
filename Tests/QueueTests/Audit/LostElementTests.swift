import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A server that loses a part of a transaction, as after a torn append-only file, leaves indexes that disagree.
@Suite(.timeLimit(.minutes(2))) struct LostElementTests {
    /// A key, or one element of it, that is lost.
    private struct Loss {
        let key: [UInt8]
        var element: [UInt8]?
        let type: String

        var command: RedisCommand {
            switch (type, element) {
            case ("hash", let field?): RedisCommand("HDEL", .bytes(key), .bytes(field))
            case ("zset", let member?): RedisCommand("ZREM", .bytes(key), .bytes(member))
            case ("list", let element?): RedisCommand("LREM", .bytes(key), "1", .bytes(element))
            default: RedisCommand("DEL", .bytes(key))
            }
        }

        var name: String { "without \(element.map { StateDump.shown($0) + " of " } ?? "")\(StateDump.shown(key))" }
    }

    /// A batch's record says whether the batch was cancelled, which nothing else knows. The two clocks begin anew.
    private static let notMended = ["batch:", "batches", "finished:"]

    private func losses(_ fixture: QueueFixture) async throws -> [Loss] {
        var losses: [Loss] = []
        var keys: [[UInt8]] = []
        for reply in try await fixture.redis.send(RedisCommand("KEYS", "*")).asArray() { keys.append(try reply.asBytes()) }
        for key in keys.sorted(by: { StateDump.shown($0) < StateDump.shown($1) }) {
            let name = StateDump.shown(key)
            if name.hasSuffix("schema") || name.hasSuffix("}state") || Self.notMended.contains(where: { name.contains("q:q:" + $0) }) {
                continue
            }
            let type = try await fixture.redis.send(RedisCommand("TYPE", .bytes(key))).asString()
            losses.append(Loss(key: key, type: type))
            let command: RedisCommand
            switch type {
            case "hash": command = RedisCommand("HKEYS", .bytes(key))
            case "zset": command = RedisCommand("ZRANGE", .bytes(key), "0", "-1")
            case "list": command = RedisCommand("LRANGE", .bytes(key), "0", "-1")
            default: continue
            }
            for element in try await fixture.redis.send(command).asArray() {
                losses.append(Loss(key: key, element: try element.asBytes(), type: type))
            }
        }
        return losses
    }

    @Test(arguments: [false, true])
    func `all jobs end after the loss of any single element, once the audit has mended it`(isLate: Bool) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let kept = try await KeptSituation(fixture, clock) { situation in
                if isLate { try await situation.growLate(fixture, clock) }
            }
            let losses = try await losses(fixture)
            #expect(losses.count > 50)
            for loss in losses {
                try await kept.restore()
                #expect(try await fixture.redis.send(loss.command).asInteger() == 1, "\(loss.name)")
                _ = try await fixture.cluster.audit(mend: true)
                #expect(try await fixture.cluster.audit(mend: false) == [], "\(loss.name)")
                try await kept.situation.finish(fixture, clock)
                try await fixture.expectEnded(loss.name)
            }
        }
    }
}
