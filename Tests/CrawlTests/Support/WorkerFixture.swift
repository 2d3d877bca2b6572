import Foundation
import GannetBase
import GannetRedis
import GannetRedisClient
import GannetTestKit

@testable import Crawl
@testable import GannetQueue
@testable import Results

/// A queue in a real Redis, a folder, and workers that run on them.
struct WorkerFixture: Sendable {
    let redis: RedisConnection
    let queue: FetchQueue
    let folder: TemporaryFolder
    let namespace: String

    static func with(
        _ server: RedisServer? = nil, partitions: Int = 1, patience: Duration = .seconds(20), timeout: Duration = .seconds(10),
        _ body: (WorkerFixture) async throws -> Void
    ) async throws {
        let shared = try await RedisServer.shared
        var configuration = RedisConfiguration(address: .unix(path: (server ?? shared).socketPath))
        configuration.longestBackoff = .milliseconds(50)
        configuration.commandTimeout = timeout
        let redis = try await RedisConnection.connect(configuration)
        let namespace = "w\(UInt64.random(in: .min ... .max))"
        let persistence = Persistence(patience: patience, pause: .milliseconds(5))
        let queue = ClusterState(redis, namespace: namespace, partitions: partitions).queue("q", persistence)
        try await body(WorkerFixture(redis: redis, queue: queue, folder: try TemporaryFolder(), namespace: namespace))
        await redis.close()
    }

    static func url(_ number: Int) -> String { "http://h/\(number)" }

    static func id(_ number: Int) -> URLID {
        var bytes = [UInt8](repeating: 0, count: 16)
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(8..<16, with: $0) }
        return URLID(bytes)!
    }

    /// Keeps an outcome for jobs that were enqueued before it, and for no later job.
    static let briefly = Retention(fresh: .zero, keep: .seconds(3600))

    func fill(
        _ numbers: Range<Int>, batch: String = "b", host: String = "h", manners: Manners = .ignoring, keeping: Keeping = .bodies
    ) async throws {
        try await fill(Array(numbers), batch: batch, host: host, manners: manners, keeping: keeping)
    }

    /// Enqueues URLs with these numbers in one closed batch, as a producer does.
    func fill(
        _ numbers: [Int], batch: String = "b", host: String = "h", manners: Manners = .ignoring, keeping: Keeping = .bodies
    ) async throws {
        let rows = try numbers.enumerated().map { place, number in
            (entry: try JobEntry(id: Self.id(number), host: host, url: Self.url(number)), row: place + 1)
        }
        var options = BatchOptions()
        options.manners = manners
        options.keeping = keeping
        var progress = try await queue.begin(batch: batch, options: options)
        _ = try await queue.enqueue(rows, to: rows.count, of: &progress, closing: true)
    }

    /// Takes jobs as another worker would.
    func claim(_ limit: Int, lease: Duration = .seconds(3600)) async throws -> [Job] {
        let incarnation = Incarnation.random()
        var jobs: [Job] = []
        for partition in queue.cluster.partitions {
            var request = ExchangeRequest(incarnation, number: 1, lease: lease)
            request.wanted = limit - jobs.count
            request.host = HostRule(limit: 1000, first: 1000)
            jobs += try await queue.exchange(request, in: partition)?.jobs ?? []
        }
        return jobs
    }

    /// Ends a job as another worker would.
    func settle(_ job: Job, with content: OutcomeContent? = nil) async throws -> Verdict? {
        var request = ExchangeRequest(.random(), number: 1, lease: .seconds(3600))
        request.settlements = [
            Settlement(job.token, job.id, .fetched(content ?? OutcomeContent(url: job.url), WorkerFixture.briefly), host: .answered)
        ]
        return try await queue.exchange(request, in: queue.cluster.partitions[job.partition])?.verdicts.first
    }

    /// The names of all files in the folder, including temporary files.
    func files() throws -> [String] {
        let all = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return all.filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder.file($0), isDirectory: &isFolder) && !isFolder.boolValue
        }
    }

    /// Starts a worker. If it listens, its subscription is complete when this call returns, so that it hears of all new jobs.
    func start(
        _ downloader: ScriptedDownloader, listens: Bool = true, output: (any JobOutput)? = nil, sites: Sites? = nil,
        activity: WorkerActivity = WorkerActivity(), _ change: (inout WorkerOptions) -> Void = { _ in }
    ) async throws -> RunningWorker {
        var options = WorkerOptions()
        // A test waits for events. A look at the queue from time to time would hide a missing one.
        options.idleLook = .seconds(3600)
        options.endsWhenEmpty = true
        // All URLs have one host. The limits of hosts have tests of their own.
        (options.hostLimit, options.hostFirst) = (64, 64)
        options.retryPolicy.firstPause = .milliseconds(2)
        change(&options)
        let subscriber = listens ? try await RedisSubscriber.connect(redis.configuration) : nil
        let name = Worker.randomName()
        let inbox = try await subscriber?.subscribe(to: queue.cluster.inboxes(of: name))
        let running = RunningWorker()
        let worker = Worker(
            name, queue: queue, downloader: downloader, output: try output ?? BodyFolder(folder.path), inbox: inbox, options: options,
            sites: sites ?? .permissive, activity: activity, report: running.note)
        running.run(worker, subscriber)
        return running
    }
}

/// A running worker, and its reports.
final class RunningWorker: Sendable {
    private let noted = Mutex<[WorkerReport]>([])
    private let stops: AsyncStream<Void>
    private let stopper: AsyncStream<Void>.Continuation
    private let task = Mutex<Task<Result<WorkerEnd, any Error>, Never>?>(nil)

    /// Each report as it comes.
    let news: AsyncStream<WorkerReport>
    private let newsmaker: AsyncStream<WorkerReport>.Continuation

    init() {
        (stops, stopper) = AsyncStream.makeStream(of: Void.self)
        (news, newsmaker) = AsyncStream.makeStream(of: WorkerReport.self)
    }

    @Sendable func note(_ report: WorkerReport) {
        noted.withLock { $0.append(report) }
        newsmaker.yield(report)
    }

    func run(_ worker: Worker, _ subscriber: RedisSubscriber?) {
        let started = Task {
            let result = await worker.run(stops: stops)
            newsmaker.finish()
            await subscriber?.close()
            return result
        }
        task.withLock { $0 = started }
    }

    func stop() { stopper.yield() }

    func cancel() { task.withLock { $0 }?.cancel() }

    /// The end of the worker, once it has ended.
    var end: Result<WorkerEnd, any Error> {
        get async { await task.withLock { $0 }!.value }
    }

    var reports: [WorkerReport] { noted.withLock { $0 } }

    func count(where isWanted: (WorkerReport) -> Bool) -> Int { reports.count(where: isWanted) }

    /// Waits for a report.
    func wait(for isWanted: (WorkerReport) -> Bool) async {
        for await report in news where isWanted(report) { return }
    }
}

extension Sites {
    /// No origin has a robots.txt.
    static var permissive: Sites { Sites(userAgent: nil) { _ in .success(File(bytes: [], freshFor: .seconds(3600))) } }
}

extension Result where Success == WorkerEnd, Failure == any Error {
    var end: WorkerEnd? { try? get() }
}

extension WorkerReport {
    var isFetched: Bool { if case .fetched = self { true } else { false } }
    var isLost: Bool { if case .lost = self { true } else { false } }
    var isRevalidated: Bool { if case .revalidated = self { true } else { false } }
    var isFailed: Bool {
        switch self {
        case .failed, .skipped: true
        default: false
        }
    }
    var isPutOff: Bool {
        switch self {
        case .putOff, .hostFull: true
        default: false
        }
    }
    var isCached: Bool { if case .cached = self { true } else { false } }
    var isBodyMissing: Bool { if case .bodyMissing = self { true } else { false } }
    var isLeft: Bool { if case .left = self { true } else { false } }
    var isHandedBack: Bool { if case .handedBack = self { true } else { false } }
}

extension QueueCounts {
    init(ready: Int = 0, active: Int = 0, enqueued: Int, fetched: Int = 0, failed: Int = 0, bytes: Int = 0) {
        self.init()
        self.ready = ready
        self.active = active
        self.enqueued = enqueued
        self.fetched = fetched
        done = fetched
        self.failed = failed
        dead = failed
        self.bytes = bytes
        partitions = 1
    }
}
