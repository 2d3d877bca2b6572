import GannetTestKit
import RedisClient

@testable import ClusterState

/// A queue of a test's own in a real Redis, and a look behind the typed calls.
struct QueueFixture: Sendable {
    let redis: RedisConnection
    let state: ClusterState
    let namespace: String

    /// Runs `body` with a queue on `server`, by default the one that all tests share.
    static func with(_ server: RedisServer? = nil, _ body: (QueueFixture) async throws -> Void) async throws {
        let shared = try await RedisServer.shared
        let configuration = RedisConfiguration(address: .unix(path: (server ?? shared).socketPath))
        let redis = try await RedisConnection.connect(configuration)
        let namespace = "t\(UInt64.random(in: .min ... .max))"
        let state = ClusterState(redis, namespace: namespace, queue: "q")
        try await body(QueueFixture(redis: redis, state: state, namespace: namespace))
        await redis.close()
    }

    #if canImport(Glibc)
    /// Runs `body` with a queue on a server whose clock the test moves.
    static func withClock(_ body: (QueueFixture, MovableClock) async throws -> Void) async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        try await with(server) { try await body($0, server.clock) }
        try await server.stop()
    }
    #endif

    static let lease = Duration.seconds(3000)

    func key(_ name: String) -> String { "{\(namespace)}q:q:\(name)" }

    /// Every key with its type and value, as Redis itself writes it down.
    func dump() async throws -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for key in try await keys() {
            let type = try await redis.send(RedisCommand("TYPE", .string(key))).asString()
            // The order within a table may change when nothing else does.
            let value: [UInt8]
            switch type {
            case "zset":
                value = Array("\(try await redis.send(RedisCommand("ZRANGE", .string(key), "0", "-1", "WITHSCORES")))".utf8)
            default: value = try await redis.send(RedisCommand("DUMP", .string(key))).asBytes()
            }
            values[key] = Array(type.utf8) + value
        }
        return values
    }

    /// Every key of the test.
    func keys() async throws -> [String] {
        var keys: [String] = []
        for key in try await redis.send(RedisCommand("KEYS", "*\(namespace)*")).asArray() { keys.append(try key.asString()) }
        return keys.sorted()
    }

    /// An id that tells URLs apart as well as a digest does.
    static func id(_ number: Int) -> URLID {
        var bytes = [UInt8](repeating: 0xa5, count: 16)
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(0..<8, with: $0) }
        return URLID(bytes)!
    }

    static func url(_ number: Int) -> (id: URLID, url: String) { (id(number), "http://h/\(number)") }

    /// Accepts the URLs of these numbers as the whole of a batch of its own.
    func fill(_ numbers: some Sequence<Int>, batch: String = "b") async throws {
        let urls = numbers.map(Self.url)
        _ = try await state.enqueue(urls, batch: batch, from: 0, to: urls.count)
    }

    func claim(_ limit: Int) async throws -> ClaimAnswer {
        try await state.claim(limit, lease: Self.lease, nonce: .random(in: .min ... .max))
    }
}
