import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

/// A `Situation` that a test has again and again, each time with the same tokens and at the same time. A copy is in the server's second
/// database, because making a situation takes twenty calls.
struct KeptSituation: Sendable {
    let situation: Situation
    private let redis: RedisConnection
    private let clock: MovableClock
    private let offset: Duration

    /// Removes all that the server has, and makes the situation. `change` may add to it.
    init(_ fixture: QueueFixture, _ clock: MovableClock, _ change: (Situation) async throws -> Void) async throws {
        (redis, self.clock) = (fixture.redis, clock)
        try await redis.send(RedisCommand("FLUSHALL"))
        situation = try await Situation(fixture)
        try await change(situation)
        offset = clock.offset
        try await redis.send(
            RedisCommand("EVAL", "for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', '1') end", 0))
    }

    /// Makes keys and time as they were.
    func restore() async throws {
        clock.advance(by: offset - clock.offset)
        let script = """
            redis.call('FLUSHDB')
            redis.call('SELECT', '1')
            for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', '0') end
            """
        try await redis.send(RedisCommand("EVAL", .string(script), 0))
    }
}
