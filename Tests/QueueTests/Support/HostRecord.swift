import GannetBase
import GannetRedisClient

@testable import GannetQueue

/// The record that Redis keeps of a host.
struct HostRecord: Sendable {
    let running: Int
    let earned: Int
    let next: Int
    let cool: Int
    let failures: Int
    let level: Int
    let isProbing: Bool
    let isGivenUp: Bool
    let pace: Int
}

extension QueueFixture {
    /// The hosts that Redis remembers.
    func hostNames() async throws -> [String] {
        try await redis.send(RedisCommand("HKEYS", .string(key("hosts")))).asArray().map { try $0.asString() }
            .filter { !$0.hasPrefix("=") && !$0.hasPrefix("?") }
    }

    /// Redis' record of a host; `nil` where there is none.
    func host(_ name: String) async throws -> HostRecord? {
        guard let bytes = try await redis.send(RedisCommand("HGET", .string(key("hosts")), .string(name))).asOptionalBytes() else {
            return nil
        }
        var reader = ByteReader(bytes)
        guard let running = reader.number(2), let earned = reader.number(1), let next = reader.number(6), let cool = reader.number(6),
            let failures = reader.number(1),
            let level = reader.number(1), let probing = reader.number(1)
        else { return nil }
        return HostRecord(
            running: running, earned: earned, next: next, cool: cool, failures: failures, level: level, isProbing: probing % 4 > 0,
            isGivenUp: probing % 4 == 2,
            pace: probing / 4)
    }
}
