import GannetRedisClient
import GannetTestKit

@testable import Crawl
@testable import GannetQueue

/// Real machines of workers and the real scripts on a real Redis, whose clock stands still unless it is moved. The network between them and
/// the origin are simulated. Nothing happens but what an event says, so one seed makes one course.
struct SimulatedFleet {
    let redis: SimulatedRedis
    let climate: FleetClimate
    let cluster: ClusterState
    let queue: FetchQueue
    var now = ContinuousClock.now
    var workers: [SimulatedWorker] = []
    /// Messages that arrive when their senders have lost patience, or have died.
    var late: [(request: ExchangeRequest, partition: Int)] = []
    var batches: [Int] = []
    var accepted = 0
    var births: UInt64 = 0
    /// Jobs of batches that want fresh answers.
    var refreshed = 0
    /// How often the origin was asked for each URL, and for which jobs.
    var requests: [String: Int] = [:]
    var begun: Set<LockToken> = []
    /// Messages that Redis has answered: partition, incarnation, number.
    var executed: Set<String> = []
    /// Of these jobs, those that Redis has back without a charge.
    var handedBack: Set<LockToken> = []
    /// The events so far, for people to read.
    var story: [String] = []
    var position = 0

    /// An outcome is for all later jobs.
    static let forLong = Retention(fresh: .seconds(7 * 86_400), keep: .seconds(7 * 86_400))

    init(_ redis: SimulatedRedis, seed: UInt64, _ scripts: ClusterScripts = .standard) async throws {
        self.redis = redis
        climate = FleetClimate(seed: seed)
        try await redis.clear()
        cluster = ClusterState(redis.connection, namespace: "s", partitions: climate.partitions, scripts: scripts)
        queue = cluster.queue("q", .once)
        for _ in 0..<climate.workers { bear(seed) }
    }

    mutating func play(_ events: [FleetEvent]) async throws {
        for event in events {
            var draw = Draw(event.seed)
            try await happen(event.kind, &draw)
            noteRequests()
            position += 1
        }
        try await comeToRest()
    }

    private mutating func happen(_ kind: FleetEvent.Kind, _ draw: inout Draw) async throws {
        switch kind {
        case .time: pass(.milliseconds(draw.one(of: [1, 20, 100, 1000, 5000, draw.below(40_000)])))
        case .arrives, .isLost, .answerIsLost, .arrivesLate: try await carry(kind, &draw)
        case .ends: end(&draw)
        case .isStored: store(&draw)
        case .enqueue: try await enqueue(&draw)
        case .cancel:
            guard !batches.isEmpty else { return }
            let batch = batches.remove(at: draw.below(batches.count))
            tell("batch \(batch) is cancelled")
            _ = try await queue.cancel(batch: batch)
        case .pause, .resume:
            tell("the queue: \(kind)")
            _ = kind == .pause ? try await queue.pause() : try await queue.resume()
        case .dies:
            guard let index = any(&draw, where: { _ in true }), workers.count > 1 else { return }
            let worker = workers.remove(at: index)
            tell("\(worker.name) is killed with \(worker.transfers.count) requests and \(worker.messages.count) messages under way")
            late += worker.messages.filter { _ in draw.chance(50) }.map { ($0.request, $0.lane.partition) }
        case .starts:
            guard workers.count < 6 else { return }
            bear(draw.number())
            tell("\(workers.last!.name) starts")
        case .freezes:
            guard let index = any(&draw, where: { !$0.isFrozen }) else { return }
            tell("\(workers[index].name) stands still")
            workers[index].unheard = []
        case .goesOn:
            guard let index = any(&draw, where: \.isFrozen) else { return }
            goOn(index)
        case .isStopped:
            guard let index = any(&draw, where: { !$0.hasEnded }) else { return }
            tell("\(workers[index].name) is asked to end")
            workers[index].take([.stopRequested], at: now)
        case .hears:
            guard let index = any(&draw, where: { _ in true }) else { return }
            workers[index].take([.heard], at: now)
        }
    }

    mutating func tell(_ sentence: String) { story.append(sentence) }

    mutating func bear(_ seed: UInt64) {
        births += 1
        var worker = SimulatedWorker("w\(births)", climate, random: SeededBytes(seed: seed &* 1_000_003 &+ births))
        worker.take([.heard], at: now)
        workers.append(worker)
    }

    mutating func goOn(_ index: Int) {
        guard let unheard = workers[index].unheard else { return }
        tell("\(workers[index].name) goes on")
        workers[index].unheard = nil
        workers[index].take(unheard + [.woken(now)], at: now)
    }

    /// Time goes by. Machines that wanted to be woken meanwhile are woken at the end of it.
    mutating func pass(_ time: Duration) {
        tell("\(time) go by")
        redis.advance(by: time)
        now += time
        for index in workers.indices {
            // A machine may have more to do at once, such as to repeat a request and to extend a lease.
            for _ in 0..<8 {
                guard let due = workers[index].wakeUp(after: now), due <= now else { break }
                workers[index].take([.woken(due)], at: now)
            }
        }
    }

    func any(_ draw: inout Draw, where isWanted: (SimulatedWorker) -> Bool) -> Int? {
        let wanted = workers.indices.filter { isWanted(workers[$0]) }
        return wanted.isEmpty ? nil : wanted[draw.below(wanted.count)]
    }

    private mutating func enqueue(_ draw: inout Draw) async throws {
        let count = draw.below(8) + 1
        var options = BatchOptions()
        options.priority = draw.one(of: Priority.allCases)
        options.refresh = draw.chance(10)
        let rows = try (1...count).map { place in
            let url = draw.below(climate.urls)
            let host = "h\(url % climate.hosts)"
            return (entry: try JobEntry(id: WorkerFixture.id(url), host: host, url: "http://\(host)/\(url)"), row: place)
        }
        let delay = draw.chance(15) ? Duration.milliseconds(draw.one(of: [10, 3000])) : .zero
        tell(
            "URLs are accepted\(delay > .zero ? " for in \(delay)" : ""): "
                + rows.map { String($0.entry.url.dropFirst(7)) }.joined(separator: " "))
        var progress = try await queue.begin(batch: "b\(accepted)-\(position)", options: options)
        _ = try await queue.enqueue(rows, to: count, of: &progress, closing: true, delay: delay)
        batches.append(progress.number)
        accepted += count
        if options.refresh { refreshed += count }
    }

    mutating func noteRequests() {
        for index in workers.indices {
            for job in workers[index].askedMeanwhile() {
                requests[job.url, default: 0] += 1
                begun.insert(job.token)
            }
        }
    }
}

/// A server whose clock stands still unless it is moved. It serves one course after another.
final class SimulatedRedis: Sendable {
    private let server: RedisServer
    let connection: RedisConnection

    init() async throws {
        server = try await RedisServer.start(.init { $0.movableClock = true })
        server.clock.stop()
        connection = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: server.socketPath)))
    }

    func advance(by time: Duration) { server.clock.advance(by: time) }
    func clear() async throws { try await server.ask("FLUSHALL") }

    func close() async throws {
        await connection.close()
        try await server.stop()
    }
}
