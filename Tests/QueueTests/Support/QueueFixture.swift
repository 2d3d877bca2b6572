import GannetBase
import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

/// A queue of a test's own in a real Redis, and a look behind the typed calls.
struct QueueFixture: Sendable {
    let redis: RedisConnection
    let cluster: ClusterState
    let queue: FetchQueue
    let namespace: String
    private let processes = Processes()

    init(redis: RedisConnection, cluster: ClusterState, queue: FetchQueue, namespace: String) {
        self.redis = redis
        self.cluster = cluster
        self.queue = queue
        self.namespace = namespace
    }

    /// A queue of `namespace`, by default one of its own, through the socket at `path`.
    static func connect(
        path: String, namespace: String? = nil, partitions: Int = 1, scripts: ClusterScripts = .standard
    ) async throws -> QueueFixture {
        try await connect(
            RedisConfiguration(address: .unix(path: path)), namespace: namespace, partitions: partitions, scripts: scripts)
    }

    static func connect(
        _ configuration: RedisConfiguration, namespace: String? = nil, partitions: Int, scripts: ClusterScripts = .standard
    ) async throws -> QueueFixture {
        let namespace = namespace ?? "t\(UInt64.random(in: .min ... .max))"
        let redis = try await RedisConnection.connect(configuration)
        let cluster = ClusterState(redis, namespace: namespace, partitions: partitions, scripts: scripts)
        return QueueFixture(redis: redis, cluster: cluster, queue: cluster.queue("q"), namespace: namespace)
    }

    /// Runs `body` with a queue on `server`, by default the one that all tests share.
    static func with(
        _ server: RedisServer? = nil, namespace: String? = nil, partitions: Int = 1, scripts: ClusterScripts = .standard,
        _ body: (QueueFixture) async throws -> Void
    ) async throws {
        let shared = try await RedisServer.shared
        let fixture = try await connect(
            path: (server ?? shared).socketPath, namespace: namespace, partitions: partitions, scripts: scripts)
        try await body(fixture)
        await fixture.redis.close()
    }

    /// Runs `body` with a queue on a server that no other test uses meanwhile. The test may remove all keys and scripts, and count commands.
    static func withServer(
        partitions: Int = 1, scripts: ClusterScripts = .standard, _ body: (QueueFixture, RedisServer) async throws -> Void
    ) async throws {
        try await RedisPool.shared.withServer { server in
            try await with(server, partitions: partitions, scripts: scripts) { try await body($0, server) }
        }
    }

    /// Runs `body` with a queue on a server whose clock the test moves.
    static func withClock(_ body: (QueueFixture, MovableClock) async throws -> Void) async throws {
        try await RedisPool.shared.withServer(.clock) { server in
            try await with(server) { try await body($0, server.clock) }
        }
    }

    /// Lets more time than a lease go by, in which nobody renews. Lease time goes on only while somebody calls.
    func endLeases(_ clock: MovableClock, of lease: Duration = Self.lease) async throws {
        for _ in 0..<Int(lease / .seconds(5)) + 4 {
            clock.advance(by: .seconds(5))
            _ = try await claim(0, worker: "passer-by", lease: lease)
        }
    }

    static let lease = Duration.seconds(30)

    /// For a first exchange before commands are counted. Where a twentieth of a lease is over, the next exchange extends it, which is a
    /// command more on a slow machine. An exchange with the usual lease never extends this one.
    static let neverExtended = Duration.seconds(3600)

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
        try await accept(try numbers.map { try Self.entry($0, hosts: hosts) }, batch: batch, options: options)
    }

    /// Accepts the whole of a batch; returns its number.
    @discardableResult
    func accept(
        _ entries: [JobEntry], batch: String = "b", options: BatchOptions = .init(), closing: Bool = true
    ) async throws -> Int {
        var progress = try await queue.begin(batch: batch, options: options)
        let first = progress.offset
        let rows = entries.enumerated().map { (entry: $1, row: first + $0 + 1) }
        _ = try await queue.enqueue(rows, to: first + rows.count, of: &progress, closing: closing, delay: options.delay)
        return progress.number
    }

    /// An exchange of a worker of this name that asks for jobs. A worker whose lease has ended begins another life.
    func claim(
        _ wanted: Int, hostLimit: Int = 1000, worker: String = "w", lease: Duration = Self.lease, in partition: Partition? = nil,
        _ change: (inout ExchangeRequest) -> Void = { _ in }
    ) async throws -> ExchangeAnswer {
        while true {
            var request = processes.request(of: worker, lease: lease, in: partition ?? cluster.home)
            request.wanted = wanted
            request.host = HostRule(limit: hostLimit, first: 1000)
            change(&request)
            if let answer = try await queue.exchange(request, in: partition ?? cluster.home) { return answer }
            processes.end(worker)
        }
    }

    func settle(
        _ job: Job, _ outcome: Settlement.Outcome, host: Settlement.HostNews = .answered, bytes: Int = 0
    ) async throws -> Verdict {
        let partition = cluster.partitions[job.partition]
        var request = processes.request(of: job.token.incarnation, lease: Self.lease, in: partition)
        request.host = HostRule(limit: 1000, first: 1000)
        request.random = 0.5
        request.settlements = [
            Settlement(job.token, job.id, outcome, host: host, bytesFetched: bytes, isDelivery: job.outcome != nil)
        ]
        return try await queue.exchange(request, in: partition)?.verdicts.first ?? .lost
    }

    /// An exchange of an incarnation that the test names, with the queue; `nil` where its lease has ended.
    func exchange(
        _ incarnation: Incarnation, lease: Duration = Self.lease, in partition: Partition? = nil,
        _ change: (inout ExchangeRequest) -> Void = { _ in }
    ) async throws -> ExchangeAnswer? {
        var request = processes.request(of: incarnation, lease: lease, in: partition ?? cluster.home)
        request.host = HostRule(limit: 1000, first: 1000)
        change(&request)
        return try await queue.exchange(request, in: partition ?? cluster.home)
    }

    /// Settles the lock of a caller without a job.
    /// - Parameter sender: The process that sends the outcome; `nil` for the one that took the lock.
    func settle(
        _ token: LockToken, _ id: URLID, _ outcome: Settlement.Outcome, from sender: Incarnation? = nil
    ) async throws -> Verdict {
        var request = processes.request(of: sender ?? token.incarnation, lease: Self.lease, in: cluster.home)
        request.settlements = [Settlement(token, id, outcome)]
        return try await cluster.exchange(request, in: cluster.home)?.verdicts.first ?? .lost
    }

    /// A body was fetched, and is fresh for an hour.
    static func fetched(_ url: String, fresh: Duration = .seconds(3600), isStored: Bool = true) -> Settlement.Outcome {
        var content = OutcomeContent(url: url)
        content.status = 200
        content.digest = [UInt8](repeating: 7, count: 32)
        return .fetched(content, Retention(fresh: fresh, keep: .seconds(86_400), isStored: isStored))
    }

    /// The URL cannot be fetched, and nobody tries for an hour.
    static func failed(_ url: String) -> Settlement.Outcome {
        var content = OutcomeContent(url: url)
        content.status = 500
        return .failed(content, Retention(fresh: .seconds(3600), keep: .seconds(3600)))
    }

    /// The URL failed, and is tried again.
    static func retried(_ url: String, after pause: Duration) -> Settlement.Outcome {
        var content = OutcomeContent(url: url)
        content.fields = [.errorClass: "timeout", .errorMessage: "It took too long."]
        return .retry(content, after: pause)
    }

    /// The host asked for a pause, or gave no length for it.
    static func throttled(_ url: String, for pause: Duration?) -> Settlement.Outcome {
        var content = OutcomeContent(url: url)
        content.status = 429
        return .throttled(content, for: pause)
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

    /// Claims in all partitions until claims bring nothing and leave nothing to look at; returns all jobs that were handed out.
    @discardableResult
    func claimAll(_ limit: Int, hostLimit: Int = 1000, _ body: (Job) async throws -> Void = { _ in }) async throws -> [Job] {
        var jobs: [Job] = []
        for _ in 0..<Self.mostClaims {
            var isMore = false
            for partition in cluster.partitions {
                let answer = try await claim(limit, hostLimit: hostLimit, in: partition)
                for job in answer.jobs { try await body(job) }
                jobs += answer.jobs
                isMore = isMore || answer.isMore || !answer.jobs.isEmpty
            }
            if !isMore { return jobs }
        }
        throw KitError("\(Self.mostClaims) claims have not come to the end of the queue")
    }

    /// Far more than any test needs.
    private static let mostClaims = 100_000
}

/// The incarnations of a test's workers, and how many exchanges each has made.
private final class Processes: Sendable {
    private struct State {
        var incarnations: [String: Incarnation] = [:]
        var exchanges: [String: Int] = [:]
    }

    private let state = Mutex(State())

    func request(of worker: String, lease: Duration, in partition: Partition) -> ExchangeRequest {
        let incarnation = state.withLock { state in
            let known = state.incarnations[worker] ?? .random()
            state.incarnations[worker] = known
            return known
        }
        return request(of: incarnation, lease: lease, in: partition)
    }

    func request(of incarnation: Incarnation, lease: Duration, in partition: Partition) -> ExchangeRequest {
        let number = state.withLock { state in
            let key = "\(incarnation.number) \(partition.index)"
            state.exchanges[key, default: 0] += 1
            return state.exchanges[key, default: 0]
        }
        return ExchangeRequest(incarnation, number: number, lease: lease)
    }

    func end(_ worker: String) { state.withLock { $0.incarnations[worker] = nil } }
}
