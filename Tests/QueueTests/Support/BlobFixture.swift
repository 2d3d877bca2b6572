import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

/// A blob store of a test's own in a real Redis, and a look behind the typed calls.
struct BlobFixture: Sendable {
    let redis: RedisConnection
    let store: BlobStore
    let namespace: String

    /// Runs `body` with a store on `server`, by default the one that all tests share.
    static func with(_ server: RedisServer? = nil, _ body: (BlobFixture) async throws -> Void) async throws {
        let shared = try await RedisServer.shared
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: (server ?? shared).socketPath)))
        let namespace = "b\(UInt64.random(in: .min ... .max))"
        try await body(BlobFixture(redis: redis, store: BlobStore(ClusterState(redis, namespace: namespace)), namespace: namespace))
        await redis.close()
    }

    /// The same on a server of the test's own.
    static func withServer(_ options: RedisServer.Options = .init(), _ body: (BlobFixture, RedisServer) async throws -> Void) async throws {
        let server = try await RedisServer.start(options)
        try await with(server) { try await body($0, server) }
        try await server.stop()
    }

    /// The same on a server whose clock the test moves.
    static func withClock(_ body: (BlobFixture, MovableClock) async throws -> Void) async throws {
        try await withServer(.init { $0.movableClock = true }) { try await body($0, $1.clock) }
    }

    static func digest(_ number: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0x5a, count: 32)
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(0..<8, with: $0) }
        return bytes
    }

    static func body(_ number: Int, _ size: Int) -> [UInt8] { [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size) }

    /// Stores the body with this number, `size` bytes of it.
    @discardableResult
    func put(_ number: Int, _ size: Int, limit: Int = 1 << 30, sparing: Duration = .zero) async throws -> BlobPutAnswer {
        try await store.put(digest: Self.digest(number), bytes: Self.body(number, size), limit: limit, sparing: sparing)
    }

    func get(_ number: Int) async throws -> [UInt8]? { try await store.get(digest: Self.digest(number)) }

    func key(_ name: String) -> RedisArgument { .string("{\(namespace):blob}\(name)") }
    func key(of number: Int) -> RedisArgument { .bytes(Array("{\(namespace):blob}:".utf8) + Self.digest(number)) }

    /// The memory that Redis' data takes, as Redis says.
    func usedMemory() async throws -> Int {
        let info = try await redis.send(RedisCommand("INFO", "memory")).asString()
        let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
        return Int(line?.dropFirst("used_memory:".count) ?? "") ?? 0
    }

    /// How often something was written to Redis' data.
    func changes() async throws -> Int {
        let info = try await redis.send(RedisCommand("INFO", "persistence")).asString()
        let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("rdb_changes_since_last_save:") }
        return Int(line?.dropFirst("rdb_changes_since_last_save:".count) ?? "") ?? 0
    }
}
