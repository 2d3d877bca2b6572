import GannetTestKit
import RedisClient

@testable import ClusterState

/// A queue of a test's own in a real Redis, and a look behind the typed calls.
struct QueueFixture: Sendable {
    let redis: RedisConnection
    let cluster: ClusterState
    let queue: FetchQueue
    let namespace: String

    /// A queue of `namespace`, by default one of its own, through the socket at `path`.
    static func connect(path: String, namespace: String = "t\(UInt64.random(in: .min ... .max))") async throws -> QueueFixture {
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: path)))
        let cluster = ClusterState(redis, namespace: namespace)
        return QueueFixture(redis: redis, cluster: cluster, queue: cluster.queue("q"), namespace: namespace)
    }

    /// Runs `body` with a queue on `server`, by default the one that all tests share.
    static func with(_ server: RedisServer? = nil, _ body: (QueueFixture) async throws -> Void) async throws {
        let shared = try await RedisServer.shared
        let fixture = try await connect(path: (server ?? shared).socketPath)
        try await body(fixture)
        await fixture.redis.close()
    }

    #if canImport(Glibc)
    /// Runs `body` with a queue on a server whose clock the test moves.
    static func withClock(_ body: (QueueFixture, MovableClock) async throws -> Void) async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        try await with(server) { try await body($0, server.clock) }
        try await server.stop()
    }

    /// Lets more time than a lease go by, in which nobody renews. Claims look as often as claims ask for it, and take back what has ended.
    func endLeases(_ clock: MovableClock, of lease: Duration = Self.lease) async throws {
        for _ in 0..<Int(lease / .seconds(5)) + 4 {
            clock.advance(by: .seconds(5))
            _ = try await claim(0, worker: "passer-by", lease: lease)
        }
    }
    #endif

    static let lease = Duration.seconds(30)

    /// A key of the namespace. `key(queue: "count")` is a key of the queue.
    func key(_ name: String) -> String { "{\(namespace)}\(name)" }
    func key(queue name: String) -> String { "{\(namespace)}q:q:\(name)" }

    /// An id that tells URLs apart as well as a digest does.
    static func id(_ number: Int) -> URLID {
        var bytes = [UInt8](repeating: 0xa5, count: 16)
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(0..<8, with: $0) }
        return URLID(bytes)!
    }

    /// The job of a number: the URL is its own, and the host is one of `hosts`.
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

    func claim(_ limit: Int, hostLimit: Int = 1000, worker: String = "w", lease: Duration = Self.lease) async throws -> Claim {
        try await claim(limit, worker: worker, lease: lease) { $0.host = HostRule(limit: hostLimit) }
    }

    /// A claim with other settings than usual.
    func claim(
        _ limit: Int, worker: String = "w", lease: Duration = Self.lease, _ change: (inout ClaimRequest) -> Void
    ) async throws -> Claim {
        var request = ClaimRequest(limit, lease: lease, nonce: Nonce(.random(in: .min ... .max)), worker: worker)
        request.host = HostRule(limit: 1000)
        change(&request)
        return try await queue.claim(request)
    }

    func settle(_ job: Job, _ outcome: Settlement.Outcome, host: Settlement.HostNews = .answered) async throws -> SettleAnswer {
        try await queue.settle([Settlement(job.token, job.entry.id, outcome, host: host)], random: 0.5)[0]
    }

    /// A body was fetched, and is fresh for an hour.
    static func fetched(_ url: String, fresh: Duration = .seconds(3600), isStored: Bool = true) -> Settlement.Outcome {
        var content = OutcomeContent(url: url)
        content.status = 200
        content.digest = [UInt8](repeating: 7, count: 32)
        return .fetched(content, Retention(fresh: fresh, keep: .seconds(86_400), isStored: isStored))
    }

    /// Jobs that wait for another fetch of their URL.
    func parked() async throws -> [Job] {
        var jobs: [Job] = []
        for key in try await redis.send(RedisCommand("KEYS", .string(key("parked:*")))).asArray() {
            for job in try await redis.send(RedisCommand("LRANGE", .bytes(try key.asBytes()), "0", "-1")).asArray() {
                if let job = Job(token: LockToken([]), job: try job.asBytes(), outcome: nil, now: 0) { jobs.append(job) }
            }
        }
        return jobs
    }

    /// The URL cannot be fetched, and nobody tries for an hour.
    static func failed(_ url: String) -> Settlement.Outcome {
        var content = OutcomeContent(url: url)
        content.status = 500
        return .failed(content, Retention(fresh: .seconds(3600), keep: .seconds(3600)))
    }

    /// Claims and fetches until nothing can be claimed; returns what was fetched, in that order.
    @discardableResult
    func drain(hostLimit: Int = 1000) async throws -> [URLID] {
        var fetched: [URLID] = []
        try await claimAll(100, hostLimit: hostLimit) { job in
            let outcome = job.outcome == nil ? Self.fetched(job.entry.url) : .delivered
            if job.outcome == nil { fetched.append(job.entry.id) }
            guard try await settle(job, outcome) == .settled else { throw KitError("\(job.entry.url) was lost while it was drained") }
        }
        return fetched
    }

    /// Claims until a claim brings nothing and leaves nothing to look at; returns all jobs that were handed out.
    @discardableResult
    func claimAll(_ limit: Int, hostLimit: Int = 1000, _ body: (Job) async throws -> Void = { _ in }) async throws -> [Job] {
        var jobs: [Job] = []
        for _ in 0..<Self.mostClaims {
            let answer = try await claim(limit, hostLimit: hostLimit)
            for job in answer.jobs { try await body(job) }
            jobs += answer.jobs
            if answer.jobs.isEmpty && !answer.isMore { return jobs }
        }
        throw KitError("\(Self.mostClaims) claims have not come to the end of the queue")
    }

    /// Far more than any test needs.
    private static let mostClaims = 100_000
}
