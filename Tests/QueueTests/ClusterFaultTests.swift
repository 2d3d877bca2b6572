import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A producer and workers on a cluster whose servers are disturbed. Redis loses nothing here, so each accepted job ends once, and each URL is
/// fetched once. `ModelTests` have workers that die, leases that end, calls that are repeated and clocks that jump, on a cluster too.
@Suite struct ClusterFaultTests {
    enum Fault: String, CaseIterable, Sendable {
        /// All connections to all servers are closed.
        case connections
        /// All servers forget their scripts.
        case scripts
        /// A server is full for some time.
        case full
        /// A server is killed, and started again a little later from its append-only file.
        case killed
    }

    @Test(arguments: Fault.allCases, [1, 16])
    func `each job ends once, and each URL is fetched once`(fault: Fault, partitions: Int) async throws {
        let cluster = try await RedisCluster.start(replicas: 0, nodeTimeout: .seconds(10_000_000)) { $0.appendOnly = fault == .killed }
        var configuration = try RedisConfiguration(url: cluster.url)
        // No successor takes the place of a server that was killed, so there is nothing to wait for.
        configuration.commandTimeout = .milliseconds(500)
        configuration.shortestBackoff = .milliseconds(1)
        configuration.longestBackoff = .milliseconds(20)
        let fixture = try await QueueFixture.connect(configuration, partitions: partitions, scripts: ClusterScripts(partBytes: 400))
        let seed = UInt64.random(in: .min ... .max)
        var course = try await Course(fixture, seed: seed)
        var disturbances = 0
        // The client pauses after each of these, so many of them would take minutes.
        let mostDisturbances = fault == .killed ? 4 : 10
        var away: RedisServer?
        func bringBack(_ node: RedisServer) async throws {
            if fault == .full {
                try await node.ask("CONFIG", "SET", "maxmemory", "0")
            } else {
                try await node.restart()
                try await cluster.serves(node)
            }
            try await eventually("the cluster is there again") {
                await fixture.redis.pipeline(course.looks).allSatisfy { (try? $0.get()) != nil }
            }
        }
        while try await course.step(mustEnqueue: fault == .full && away != nil) {
            // Most steps are quiet, so that work goes on between two disturbances.
            if course.steps % 4 == 2 {
                let partition = fixture.cluster.partitions[course.draw(partitions)]
                let node = try await cluster.owner(of: cluster.slot(of: partition.keys.tag))
                disturbances += 1
                switch fault {
                case .connections where disturbances <= mostDisturbances:
                    for node in cluster.nodes { try await node.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") }
                case .scripts: for node in cluster.nodes { try await node.ask("SCRIPT", "FLUSH") }
                case .full:
                    try await node.ask("CONFIG", "SET", "maxmemory", "1")
                    away = node
                case .killed where disturbances <= mostDisturbances:
                    try await node.kill9()
                    away = node
                case .connections, .killed: break
                }
            } else if course.steps % 4 == 0, let node = away {
                try await bringBack(node)
                away = nil
            }
        }
        if let away { try await bringBack(away) }
        #expect(disturbances > 3, "seed \(seed)")
        try course.expectAll()
        if fault == .full || fault == .killed { #expect(course.refusals > 0, "seed \(seed)") }
        try await fixture.expectEnded("seed \(seed)")
        await fixture.redis.close()
        for node in cluster.nodes { try await node.stop() }
    }
}

/// One producer and three workers, who take turns at random. A call without an answer is made again, with the same bytes.
private struct Course {
    private struct Worker {
        let incarnation: Incarnation
        var numbers: [Int: Int] = [:]
        var held: [Int: [Job]] = [:]
        var unanswered: [Int: ExchangeRequest] = [:]
    }

    private static let jobs = 300, urls = 250, hosts = 40, chunk = 15

    private let fixture: QueueFixture
    private let seed: UInt64
    private var random: SeededBytes
    private var progress: BatchProgress
    private var workers: [Worker]
    private var fetched: [URLID] = []
    private var ended = 0
    private(set) var steps = 0
    /// Calls that failed, and were made again.
    private(set) var refusals = 0

    /// A command to each partition.
    let looks: [RedisCommand]

    init(_ fixture: QueueFixture, seed: UInt64) async throws {
        self.fixture = fixture
        self.seed = seed
        random = SeededBytes(seed: seed)
        progress = try await fixture.queue.begin(batch: "b")
        workers = (1...3).map { Worker(incarnation: Incarnation($0)) }
        looks = fixture.cluster.partitions.map { RedisCommand("HLEN", $0.keys.locks) }
    }

    mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// Does one thing. Answers whether there is more to do.
    mutating func step(mustEnqueue: Bool) async throws -> Bool {
        steps += 1
        guard steps < 100_000 else { throw KitError("the course comes to no end, seed \(seed)") }
        if ended == Self.jobs { return false }
        let offset = progress.offset
        if offset < Self.jobs, mustEnqueue || draw(3) == 0 {
            let rows = try (offset + 1...offset + Self.chunk).map {
                (entry: try QueueFixture.entry($0 % Self.urls, hosts: Self.hosts), row: $0)
            }
            try await trying {
                _ = try await $0.fixture.queue.enqueue(
                    rows, to: offset + Self.chunk, of: &$0.progress, closing: offset + Self.chunk == Self.jobs)
            }
        } else {
            // A worker goes round its partitions, as each of them may have what the last jobs wait for.
            let worker = draw(workers.count)
            for partition in fixture.cluster.partitions.shuffled(using: &random) {
                guard try await trying({ try await $0.exchange(worker, partition) }) else { break }
            }
        }
        return true
    }

    @discardableResult
    private mutating func trying(_ call: (inout Course) async throws -> Void) async throws -> Bool {
        do {
            try await call(&self)
            return true
        } catch {
            guard let error = StateError(error), error.isTransient || error.redis?.kind == .outOfMemory else {
                throw KitError("\(error), step \(steps), seed \(seed)")
            }
            refusals += 1
            return false
        }
    }

    private mutating func exchange(_ index: Int, _ partition: Partition) async throws {
        let place = partition.index
        if workers[index].unanswered[place] == nil {
            let number = workers[index].numbers[place, default: 0] + 1
            var request = ExchangeRequest(workers[index].incarnation, number: number, lease: .seconds(3600))
            request.wanted = draw(12)
            request.host = HostRule(limit: 2, first: 1000)
            request.random = 0.5
            request.settlements = workers[index].held[place, default: []].map {
                Settlement($0.token, $0.id, QueueFixture.usualEnd(of: $0), host: .answered, isDelivery: $0.outcome != nil)
            }
            workers[index].numbers[place] = number
            workers[index].unanswered[place] = request
        }
        guard let request = workers[index].unanswered[place] else { return }
        guard let answer = try await fixture.queue.exchange(request, in: partition) else { throw KitError("a lease ended, seed \(seed)") }
        guard answer.verdicts.allSatisfy({ $0 == .settled }) else { throw KitError("verdicts \(answer.verdicts), seed \(seed)") }
        ended += request.settlements.count
        fetched += answer.jobs.filter { $0.outcome == nil }.map(\.id)
        workers[index].unanswered[place] = nil
        workers[index].held[place] = answer.jobs
    }

    func expectAll() throws {
        #expect(ended == Self.jobs && fetched.count == Self.urls && Set(fetched).count == Self.urls, "seed \(seed)")
    }
}
