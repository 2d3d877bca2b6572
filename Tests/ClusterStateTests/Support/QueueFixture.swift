import GannetTestKit
import RedisClient

@testable import ClusterState

/// A queue of a test's own in a real Redis, and a look behind the typed calls.
struct QueueFixture: Sendable {
    let redis: RedisConnection
    let cluster: ClusterState
    let queue: QueueState
    let namespace: String

    /// Runs `body` with a queue on `server`, by default the one that all tests share.
    static func with(_ server: RedisServer? = nil, _ body: (QueueFixture) async throws -> Void) async throws {
        let shared = try await RedisServer.shared
        let configuration = RedisConfiguration(address: .unix(path: (server ?? shared).socketPath))
        let redis = try await RedisConnection.connect(configuration)
        let namespace = "t\(UInt64.random(in: .min ... .max))"
        let cluster = ClusterState(redis, namespace: namespace)
        try await body(QueueFixture(redis: redis, cluster: cluster, queue: cluster.queue("q"), namespace: namespace))
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

    static let lease = Duration.seconds(30)

    /// A key of the namespace; `key(queue: "count")` one of the queue.
    func key(_ name: String) -> String { "{\(namespace)}\(name)" }
    func key(queue name: String) -> String { "{\(namespace)}q:q:\(name)" }

    /// Every key with its type and value, as Redis itself writes it down.
    func dump() async throws -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for key in try await keys() {
            let type = try await redis.send(RedisCommand("TYPE", .bytes(key))).asString()
            // The order within a table may change when nothing else does.
            let value: [UInt8]
            switch type {
            case "zset": value = Array("\(try await redis.send(RedisCommand("ZRANGE", .bytes(key), "0", "-1", "WITHSCORES")))".utf8)
            default: value = try await redis.send(RedisCommand("DUMP", .bytes(key))).asBytes()
            }
            values[String(decoding: key, as: UTF8.self)] = Array(type.utf8) + value
        }
        return values
    }

    /// Every key of the test; some hold ids, which are no text.
    func keys() async throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        for key in try await redis.send(RedisCommand("KEYS", "{\(namespace)}*")).asArray() { keys.append(try key.asBytes()) }
        return keys
    }

    /// An id that tells URLs apart as well as a digest does.
    static func id(_ number: Int) -> URLID {
        var bytes = [UInt8](repeating: 0xa5, count: 16)
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(0..<8, with: $0) }
        return URLID(bytes)!
    }

    /// The job of a number: its URL is its own, its host one of `hosts`.
    static func entry(_ number: Int, hosts: Int = 1) throws -> JobEntry {
        try JobEntry(id: id(number), host: "h\(number % hosts)", url: "http://h\(number % hosts)/\(number)")
    }

    /// Accepts the jobs of these numbers as the whole of a batch; returns its number.
    @discardableResult
    func fill(_ numbers: some Sequence<Int>, hosts: Int = 1, batch: String = "b", options: BatchOptions = .init()) async throws -> Int {
        let entries = try numbers.map { try Self.entry($0, hosts: hosts) }
        let number = try await queue.begin(batch: batch, options: options).number
        _ = try await queue.enqueue(entries, batch: number, from: 0, to: entries.count, closing: true)
        return number
    }

    func claim(_ limit: Int, hostLimit: Int = 1000, worker: String = "w") async throws -> ClaimAnswer {
        var request = ClaimRequest(limit, lease: Self.lease, nonce: Nonce(.random(in: .min ... .max)), worker: worker)
        request.host = HostRule(limit: hostLimit)
        return try await queue.claim(request)
    }

    func settle(_ job: LeasedJob, _ outcome: Settlement.Outcome, host: Settlement.HostNews = .answered) async throws -> SettleAnswer {
        try await queue.settle([Settlement(job.token, job.entry.id, outcome, host: host)], random: 0.5)[0]
    }

    /// A body was fetched, and is fresh for an hour.
    static func fetched(_ url: String, fresh: Duration = .seconds(3600), isStored: Bool = true) -> Settlement.Outcome {
        var content = PageContent(url: url)
        content.status = 200
        content.digest = [UInt8](repeating: 7, count: 32)
        return .fetched(content, Retention(fresh: fresh, keep: .seconds(86_400), isStored: isStored))
    }
}
