import Foundation
import GannetHTTP
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue
@testable import Results

/// How jobs that are enqueued later use a worker's outcomes.
@Suite(.timeLimit(.minutes(3))) struct FreshnessTests {
    private static let inRedis = [false, true]

    /// One job after the other for one URL, each in a batch of its own.
    private func runs(
        _ count: Int, inRedis: Bool = false, _ answer: @escaping @Sendable (String) -> ScriptedDownloader.Answer,
        _ check: (WorkerFixture, ScriptedDownloader, [RunningWorker]) async throws -> Void
    ) async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader(answer)
            var workers: [RunningWorker] = []
            for number in 0..<count {
                try await fixture.fill(1..<2, batch: "batch \(number)")
                let output: (any JobOutput)? = inRedis ? try await fixture.redisBodies() : nil
                workers.append(try await fixture.start(downloader, output: output))
                #expect(await workers[number].end.end == .empty)
                (output as? RedisBodies)?.close()
                // The queue's clock counts milliseconds. An outcome may also go to a job that is enqueued in the same millisecond.
                try await fixture.redis.send(RedisCommand("BLPOP", "nothing", "0.01"))
            }
            try await check(fixture, downloader, workers)
        }
    }

    @Test(arguments: inRedis) func `an answer that is good for an hour is asked for once`(inRedis: Bool) async throws {
        try await runs(3, inRedis: inRedis) {
            .answer($0, [("cache-control", "max-age=3600")])
        } _: { fixture, downloader, workers in
            #expect(downloader.urls.count == 1)
            #expect(workers.map { $0.count(where: \.isCached) } == [0, 1, 1])
            let counts = try await fixture.queue.counts()
            #expect(counts.fetched == 1 && counts.cached == 2 && counts.done == 3)
        }
    }

    @Test func `an answer without a lifetime is requested once within an hour`() async throws {
        try await runs(2) {
            .answer($0, [])
        } _: { _, downloader, workers in
            #expect(downloader.urls.count == 1 && workers[1].count(where: \.isCached) == 1)
        }
    }

    @Test(arguments: inRedis) func `a stale answer is revalidated by its tag, and keeps its body`(inRedis: Bool) async throws {
        let answer = { @Sendable (url: String) in
            ScriptedDownloader.Answer.answer(url, [("cache-control", "max-age=0"), ("etag", "\"1\"")])
        }
        try await runs(3, inRedis: inRedis, answer) { fixture, downloader, workers in
            #expect(downloader.urls.count == 3)
            #expect(workers.map { $0.count(where: \.isRevalidated) } == [0, 1, 1])
            let counts = try await fixture.queue.counts()
            #expect(counts.fetched == 1 && counts.revalidated == 2 && counts.done == 3)
            #expect(counts.bytes == WorkerFixture.url(1).utf8.count)
            #expect(try fixture.files().count == (inRedis ? 0 : 1))
        }
    }

    @Test func `an answer whose body is gone is requested again without its tag`() async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader { .answer($0, [("etag", "\"1\"")]) }
            for batch in ["a", "b"] {
                try await fixture.fill(1..<2, batch: batch)
                let worker = try await fixture.start(downloader)
                #expect(await worker.end.end == .empty)
                for file in try fixture.files() { try FileManager.default.removeItem(atPath: fixture.folder.file(file)) }
                try await fixture.redis.send(RedisCommand("BLPOP", "nothing", "0.01"))
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.fetched == 2 && counts.revalidated == 0)
        }
    }

    @Test(arguments: [Keeping.bodies, .cache], [FetchError.Kind.status(404), .refusedAddress, nil])
    func `outcomes wait for the export of their batch, whatever they are`(keeping: Keeping, failure: FetchError.Kind?) async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(1..<2, keeping: keeping)
            let downloader = ScriptedDownloader { url in failure.map { .failure($0) } ?? .answer(url, [("cache-control", "no-store")]) }
            #expect(await (try await fixture.start(downloader)).end.end == .empty)
            let key = fixture.queue.cluster.home.keys.outcome(WorkerFixture.id(1))
            let days = Double(try await fixture.redis.send(RedisCommand("PTTL", key)).asInteger()) / 86_400_000
            #expect(days > (keeping == .cache ? 0.99 : 30.99) && days <= (keeping == .cache ? 1 : 31))
        }
    }

    @Test func `an answer that may not be kept goes to no later job, and a failure is kept for a while`() async throws {
        try await runs(2) {
            .answer($0, [("cache-control", "no-store"), ("etag", "\"1\"")])
        } _: { fixture, downloader, _ in
            #expect(downloader.urls.count == 2)
            let outcome = try await ClusterState(fixture.redis, namespace: fixture.namespace).outcome(WorkerFixture.id(1), host: "h")
            #expect(outcome?.content.facts == nil)
        }
        try await runs(2) { _ in
            .failure(.status(404))
        } _: { fixture, downloader, _ in
            #expect(downloader.urls.count == 1)
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == 2)
        }
    }

    @Test(arguments: [FetchError.Kind.refusedAddress, .tls, .tooLarge])
    func `a failure that comes from one worker's settings does not count for the next worker`(kind: FetchError.Kind) async throws {
        try await runs(2) { _ in
            .failure(kind)
        } _: { _, downloader, _ in
            #expect(downloader.urls.count == 2)
        }
    }

    @Test func `a body that does not fit into Redis fails its job and no other`() async throws {
        try await WorkerFixture.with { fixture in
            let bodies = try await fixture.redisBodies(limit: 1_000_000)
            let large = String(repeating: "x", count: 2_000_000)
            let downloader = ScriptedDownloader { $0 == WorkerFixture.url(1) ? .body(large) : .body($0) }
            try await fixture.fill(1..<4)
            let worker = try await fixture.start(downloader, output: bodies)
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isFetched) == 2 && worker.count(where: \.isFailed) == 1)
            let outcome = try #require(
                try await ClusterState(fixture.redis, namespace: fixture.namespace).outcome(WorkerFixture.id(1), host: "h"))
            #expect(outcome.content.fields[.errorClass] == "too-large")
            #expect(try fixture.files() == [])
            bodies.close()
        }
    }

    @Test func `large and empty bodies go to Redis as well`() async throws {
        try await WorkerFixture.with { fixture in
            let bodies = try await fixture.redisBodies()
            let large = String(repeating: "x", count: 3_000_000)
            let downloader = ScriptedDownloader { $0 == WorkerFixture.url(1) ? .body(large) : .body("") }
            try await fixture.fill(1..<3)
            let worker = try await fixture.start(downloader, output: bodies)
            #expect(await worker.end.end == .empty)
            let state = ClusterState(fixture.redis, namespace: fixture.namespace)
            let outcome = try #require(try await state.outcome(WorkerFixture.id(1), host: "h"))
            let digest = try #require(outcome.content.digest)
            let store = BlobStore(state)
            #expect(try await store.get(digest: digest) == Array(large.utf8))
            #expect(try fixture.files() == [])
            bodies.close()
        }
    }
}

extension WorkerFixture {
    /// A store for bodies in the queue's Redis.
    func redisBodies(limit: Int = 100_000_000, calm: Duration = .seconds(5)) async throws -> RedisBodies {
        RedisBodies(
            queue.cluster, over: try await RedisConnection.connect(redis.configuration), limit: limit,
            temporaryFolder: folder.path, patience: .seconds(20), calm: calm)
    }
}
