import GannetBase
import GannetHTTP
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue
@testable import Results

/// The places of a worker, and the calls that fill them.
@Suite(.timeLimit(.minutes(3))) struct PlacesTests {
    @Test func `places are filled while bodies are being stored`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<8)
            let downloader = ScriptedDownloader { .body($0) }
            let output = SlowOutput()
            let worker = try await fixture.start(downloader, output: output) { $0.concurrency = 4 }
            // No body is stored and no job settled, and all eight have been fetched with four places.
            await downloader.waitForStarts(8)
            #expect(try await fixture.queue.counts().done == 0)
            output.open()
            #expect(await worker.end.end == .empty)
            #expect(downloader.most <= 4)
            #expect(try await fixture.queue.counts().done == 8)
        }
    }

    @Test func `under load a call carries eight jobs and more`() async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server) { fixture in
            let jobs = 2000
            for host in 0..<20 { try await fixture.fill(host * 100..<host * 100 + 100, batch: "\(host)", host: "h\(host)") }
            let statistics = try await server.statistics {
                let worker = try await fixture.start(ScriptedDownloader { .body($0) }, output: NoOutput()) {
                    $0.heartbeat = .seconds(3600)
                }
                #expect(await worker.end.end == .empty)
            }
            #expect(try await fixture.queue.counts().done == jobs)
            let calls = ["evalsha", "eval"].reduce(0) { $0 + (statistics.commands[$1]?.calls ?? 0) }
            #expect(calls <= jobs / 8, "\(calls) calls")
        }
        try await server.stop()
    }

    @Test func `a worker fetches what is in sixteen partitions, and ends when all are empty`() async throws {
        try await WorkerFixture.with(partitions: 16) { fixture in
            let hosts = (0..<64).map { "host-\($0).example" }
            for (number, host) in hosts.enumerated() { try await fixture.fill(number * 10..<number * 10 + 10, batch: host, host: host) }
            #expect(Set(hosts.map { fixture.queue.cluster.partition(of: $0).index }).count == 16)
            let downloaders = [ScriptedDownloader { .body($0) }, ScriptedDownloader { .body($0) }]
            var workers: [RunningWorker] = []
            for downloader in downloaders { workers.append(try await fixture.start(downloader)) }
            for worker in workers { #expect(await worker.end.end == .empty) }
            let urls = downloaders.flatMap(\.urls)
            #expect(urls.count == 640 && Set(urls).count == 640)
            #expect(try await fixture.queue.counts().done == 640)
        }
    }

    @Test func `a redirect to a host of another partition takes its place there, and leaves none behind`() async throws {
        try await WorkerFixture.with(partitions: 16) { fixture in
            let cluster = fixture.queue.cluster
            let target = try #require((0..<100).map { "t\($0)" }.first { cluster.partition(of: $0) != cluster.partition(of: "h") })
            try await fixture.fill(0..<12)
            let downloader = ScriptedDownloader { _ in .led(to: target, .held) }
            let worker = try await fixture.start(downloader) { $0.hostLimit = 4 }
            await downloader.waitForArrivals(4)
            #expect(downloader.mostArrived == 4)
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(downloader.mostArrived == 4)
            #expect(worker.count(where: \.isFetched) == 12)
            #expect(try await cluster.explain(WorkerFixture.id(0), host: target).standing.running == 0)
        }
    }
}

/// Stores nothing, and holds jobs until a test lets them end.
private final class SlowOutput: JobOutput {
    private let state = Mutex((isOpen: false, waiters: [CheckedContinuation<Void, Never>]()))

    var bodyDestination: BodyDestination { .memory(upTo: 1 << 20, thenFileIn: "/tmp") }
    func found(_ job: Job) -> HeldBody? { nil }
    func held(_ outcome: URLOutcome, for job: Job) -> HeldBody? { nil }
    func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) {}

    func place(_ download: Download, digest: SHA256Digest, of job: Job) async -> Placement {
        await withCheckedContinuation { waiter in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(waiter) }
                return state.isOpen
            }
            if isOpen { waiter.resume() }
        }
        return .held(HeldBody(file: nil))
    }

    func open() {
        let waiters = state.withLock { state in
            defer { state = (true, []) }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// Takes every body and keeps none.
private struct NoOutput: JobOutput {
    var bodyDestination: BodyDestination { .memory(upTo: 1 << 20, thenFileIn: "/tmp") }
    func found(_ job: Job) -> HeldBody? { nil }
    func held(_ outcome: URLOutcome, for job: Job) -> HeldBody? { HeldBody(file: nil) }
    func place(_ download: Download, digest: SHA256Digest, of job: Job) -> Placement { .held(HeldBody(file: nil)) }
    func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) {}
}
