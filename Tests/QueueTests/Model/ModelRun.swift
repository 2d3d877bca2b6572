import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

/// One course of operations on a real server. The model beside it knows which jobs there are and how often each URL was tried, and every
/// step is held against the rules.
final class ModelRun {
    struct JobRecord {
        let queue: Int
        let batch: Int
        let url: Int
        let partition: Int
        var hasEnded = false
    }

    struct Worker {
        let name: String
        let queue: Int
        let incarnation: Incarnation
        let lease: Int
        var exchanges: [Int]
        var held: [Job] = []
        /// Places at hosts of other partitions, to which redirects led.
        var places: [(partition: Int, token: LockToken, id: URLID)] = []
        var last: (request: ExchangeRequest, answer: ExchangeAnswer, partition: Int)?
    }

    struct BatchRecord {
        let queue: Int
        let name: String
        var progress: BatchProgress
        var options: BatchOptions
    }

    /// Failed attempts and crashes that a URL is charged with.
    struct Charge: Equatable {
        var failures = 0
        var crashes = 0
    }

    static let queueNames = ["a", "b"]
    /// How long a queue has the turn at a host, ms.
    static let turn = 250
    static let workers = 5

    let bench: ModelBench
    let climate: ModelClimate
    let cluster: ClusterState
    var looks: [StateLook]
    var workers: [Worker] = []
    private(set) var jobs: [Int: JobRecord] = [:]
    /// The jobs of each partition that have not ended.
    private(set) var open: [Set<Int>]
    var batches: [BatchRecord] = []
    /// In each partition, by URL.
    var charges: [[Bytes: Charge]]
    /// In each partition and queue, by priority.
    var shares: [[[String: Share]]]
    /// In each partition and queue, by host.
    var visits: [[[String: VainVisit]]]
    /// Processes whose leases have ended in each partition.
    var ended: [Set<Bytes>]
    /// Hosts that have answered. Whether a host to which a request was moved has answered is not followed up.
    var answered: Set<String> = []
    private(set) var hasMoved = false
    var isPaused = [false, false]
    var callers: [(incarnation: Incarnation, exchanges: Int, held: [(token: LockToken, url: Int)])] = []
    var births = 0
    /// The operations so far, for people to read.
    var story: [String] = []
    /// Whether the last look saw anything new.
    private(set) var hasChanged = true
    /// The number of the operation under way.
    var position = 0

    init(_ bench: ModelBench, _ climate: ModelClimate, _ scripts: ClusterScripts) async throws {
        self.bench = bench
        self.climate = climate
        cluster = ClusterState(bench.redis, namespace: ModelBench.namespace, partitions: climate.partitions, scripts: scripts)
        looks = Array(repeating: StateLook(), count: climate.partitions)
        charges = Array(repeating: [:], count: climate.partitions)
        shares = Array(repeating: Array(repeating: [:], count: Self.queueNames.count), count: climate.partitions)
        visits = Array(repeating: Array(repeating: [:], count: Self.queueNames.count), count: climate.partitions)
        ended = Array(repeating: [], count: climate.partitions)
        open = Array(repeating: [], count: climate.partitions)
        try await bench.clear()
        var draw = Draw(1)
        for number in 0..<Self.workers { workers.append(born(number % 2, &draw)) }
        for number in 0..<2 { callers.append((Incarnation(UInt64(7000 + number)), 0, [])) }
    }

    func end(_ serial: Int) {
        guard let job = jobs[serial] else { return }
        jobs[serial]!.hasEnded = true
        open[job.partition].remove(serial)
    }

    func host(of url: Int) -> String { "h\(url % climate.hosts)" }

    func born(_ queue: Int, _ draw: inout Draw) -> Worker {
        births += 1
        return Worker(
            name: "w\(births)", queue: queue, incarnation: Incarnation(UInt64(births)), lease: draw.one(of: climate.leases),
            exchanges: Array(repeating: 0, count: climate.partitions))
    }

    func run(_ operations: [Operation]) async throws {
        for operation in operations {
            var draw = Draw(operation.seed)
            try await perform(operation.kind, &draw)
            position += 1
        }
        try await finish()
    }

    private func perform(_ kind: Operation.Kind, _ draw: inout Draw) async throws {
        switch kind {
        case .clock:
            let ms = draw.one(of: [1, 10, 250, 1000, 5000, draw.below(40_000)])
            story.append("\(ms) ms go by")
            bench.advance(ms)
        case .enqueue: try await enqueue(&draw)
        case .exchange: try await exchange(draw.below(workers.count), &draw)
        case .again: try await repeatExchange(draw.below(workers.count))
        case .move: try await move(&draw)
        case .acquire: try await acquire(&draw)
        case .callerEnds: try await callerEnds(&draw)
        case .death:
            let index = draw.below(workers.count)
            story.append("\(workers[index].name) dies")
            workers[index] = born(draw.below(2), &draw)
        case .forget:
            let index = draw.below(workers.count)
            story.append("\(workers[index].name) forgets its jobs")
            workers[index].held = []
            workers[index].places = []
            for partition in cluster.partitions { try await exchange(index, in: partition.index, [], wanted: 0, namesHeld: true) }
        case .cancel:
            guard !batches.isEmpty else { return }
            let batch = batches.remove(at: draw.below(batches.count))
            story.append("batch \(batch.progress.number) is cancelled")
            _ = try await cluster.queue(Self.queueNames[batch.queue]).cancel(batch: batch.progress.number)
            for (serial, job) in jobs where job.queue == batch.queue && job.batch == batch.progress.number && !job.hasEnded {
                let isHeld = looks.contains { $0.places[serial]?.isHeld == true }
                if !isHeld { end(serial) }
            }
            try await lookAgain()
        case .pause, .resume:
            let queue = draw.below(2)
            isPaused[queue] = kind == .pause
            story.append("queue \(Self.queueNames[queue]): \(kind)")
            let state = cluster.queue(Self.queueNames[queue])
            _ = kind == .pause ? try await state.pause() : try await state.resume()
            try await lookAgain()
        case .reclaim:
            let queue = draw.below(2)
            story.append("queue \(Self.queueNames[queue]) takes back what is held")
            _ = try await cluster.queue(Self.queueNames[queue]).reclaimAll()
            try await lookAgain(isCharged: false)
        case .crash:
            story.append("the server crashes")
            let before = try await StateDump(bench.redis, namespace: ModelBench.namespace)
            try await bench.crash()
            let after = try await StateDump(bench.redis, namespace: ModelBench.namespace)
            try Violation.require(after == before, "the server came back as another: \(after.differences(from: before))")
        }
    }

    private func enqueue(_ draw: inout Draw) async throws {
        let isNew = batches.isEmpty || draw.chance(30)
        if isNew {
            let queue = draw.below(2)
            var options = BatchOptions()
            options.priority = draw.one(of: Priority.allCases)
            options.refresh = draw.chance(20)
            options.maximumAge = draw.chance(20) ? .seconds(draw.below(20)) : nil
            let name = "b\(births)-\(position)-\(story.count)"
            let progress = try await cluster.queue(Self.queueNames[queue]).begin(batch: name, options: options)
            batches.append(BatchRecord(queue: queue, name: name, progress: progress, options: options))
        }
        let index = isNew ? batches.count - 1 : draw.below(batches.count)
        let count = draw.below(climate.chunk) + 1
        let closes = draw.chance(20)
        let delay = draw.chance(20) ? Duration.milliseconds(draw.one(of: [1, 3000])) : .zero
        var batch = batches[index]
        var rows: [FetchQueue.NumberedJob] = []
        let first = batch.progress.offset
        for place in 1...count {
            let (url, serial) = (draw.below(climate.urls), jobs.count)
            let partition = cluster.partition(of: host(of: url)).index
            jobs[serial] = JobRecord(queue: batch.queue, batch: batch.progress.number, url: url, partition: partition)
            open[partition].insert(serial)
            let entry = try JobEntry(id: QueueFixture.id(url), host: host(of: url), url: "http://\(host(of: url))/\(url)?\(serial)")
            rows.append((entry: entry, row: first + place))
        }
        story.append(
            "batch \(batch.progress.number) of queue \(Self.queueNames[batch.queue]), \(batch.options.priority), gets URLs "
                + rows.map { String($0.entry.url.dropFirst(7)) }.joined(separator: " ") + (delay > .zero ? " in \(delay)" : ""))
        _ = try await cluster.queue(Self.queueNames[batch.queue]).enqueue(
            rows, to: first + count, of: &batch.progress, closing: closes, delay: delay)
        batches[index] = batch
        if closes { batches.remove(at: index) }
        try await lookAgain()
    }

    private func move(_ draw: inout Draw) async throws {
        let index = draw.below(workers.count)
        guard let job = workers[index].held.last(where: { $0.outcome == nil && !$0.isHopeless }) else { return }
        let target = "h\(draw.below(climate.hosts))"
        let passage = try await cluster.queue(job.queue).move(
            job, to: target, usual: HostRule(limit: climate.limit, interval: .milliseconds(climate.interval), first: climate.first),
            lease: .milliseconds(workers[index].lease))
        hasMoved = true
        story.append("\(workers[index].name) moves \(job.url) to \(target): \(passage)")
        let there = cluster.partition(of: target).index
        if passage == .there, there != job.partition {
            workers[index].places.removeAll { $0.id == job.id && $0.partition == there }
            workers[index].places.append((there, job.token, job.id))
        }
        try await lookAgain()
    }

    private func acquire(_ draw: inout Draw) async throws {
        let (index, url) = (draw.below(callers.count), draw.below(climate.urls))
        let id = QueueFixture.id(url)
        var request = AcquireRequest(
            id: id, host: host(of: url), incarnation: callers[index].incarnation, nonce: draw.number(),
            lease: .milliseconds(climate.leases[0]))
        request.longestHold = .milliseconds(climate.longestHold)
        request.refresh = draw.chance(30)
        request.maximumAge = draw.chance(20) ? .seconds(draw.below(20)) : nil
        let partition = cluster.partition(of: host(of: url)).index
        let before = looks[partition]
        let answer = try await cluster.acquire(request)
        story.append("caller \(index) asks for \(url): \(answer.fate)".prefix(90).description)
        let after = try await look(partition)
        try check(from: before, to: after, partition, ending: [], settled: [:])
        if case .leased(let token, _) = answer.fate {
            callers[index].held.append((token, url))
            if let lock = before.locks[id.bytes], lock.kind.isHeld {
                let isOver = (before.leases[lock.incarnation] ?? 0) <= Double(after.lived) || lock.deadline <= after.lived
                try Violation.require(isOver, "a URL was given to a caller while somebody else had it")
            }
        }
        if case .ended = answer.fate {
            births += 1
            callers[index] = (Incarnation(UInt64(7000 + births)), callers[index].exchanges, callers[index].held)
        }
    }

    private func callerEnds(_ draw: inout Draw) async throws {
        let index = draw.below(callers.count)
        guard !callers[index].held.isEmpty else { return }
        let (token, url) = callers[index].held.removeFirst()
        let end = draw.one(of: [(ModelEnd.fetched, 5), (.failed, 1), (.back, 2)])
        callers[index].exchanges += 1
        let partition = cluster.partition(of: host(of: url))
        var request = ExchangeRequest(
            token.incarnation, number: 1 << 20 + callers[index].exchanges, lease: .milliseconds(climate.leases[0]))
        request.settlements = [Settlement(token, QueueFixture.id(url), end.outcome("http://\(host(of: url))/\(url)", &draw))]
        let before = looks[partition.index]
        let answer = try await cluster.exchange(request, in: partition)
        story.append("caller \(index) ends \(url): \(end), \(answer.map { "\($0.verdicts)" } ?? "its lease has ended")")
        let after = try await look(partition.index)
        let settled = answer?.verdicts == [.settled] ? [QueueFixture.id(url).bytes: end] : [:]
        try check(from: before, to: after, partition.index, ending: late(settled, before, after), settled: settled)
    }

    // MARK: Looking

    func look(_ partition: Int) async throws -> StateLook {
        var look = looks[partition]
        hasChanged = try await look.refresh(bench.redis, tag: cluster.partitions[partition].keys.tag)
        looks[partition] = look
        return look
    }

    /// Looks at all partitions after a step that the model learns nothing from.
    /// - Parameter isCharged: False where jobs are taken back without a charge, also from workers whose leases have ended.
    func lookAgain(isCharged: Bool = true) async throws {
        for partition in looks.indices {
            let before = looks[partition]
            let after = try await look(partition)
            try check(from: before, to: after, partition, ending: [], settled: [:], isCharged: isCharged)
        }
    }
}
