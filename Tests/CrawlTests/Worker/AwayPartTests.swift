import GannetBase
import GannetHTTP
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue
@testable import Results

/// Bodies in a Redis Cluster, one server of which is away.
@Suite(.timeLimit(.minutes(3))) struct AwayPartTests {
    @Test func `a body waits for its part as long as it takes, and a body of another part is stored meanwhile`() async throws {
        let cluster = try await RedisCluster.start(replicas: 0, nodeTimeout: .seconds(10_000_000)) { $0.appendOnly = true }
        var configuration = try RedisConfiguration(url: cluster.url)
        configuration.commandTimeout = .milliseconds(300)
        configuration.longestBackoff = .milliseconds(50)
        let state = ClusterState(try await RedisConnection.connect(configuration), namespace: "w", partitions: 16)
        let (outages, told) = AsyncStream.makeStream(of: RedisOutage.self)
        let folder = try TemporaryFolder()
        let bodies = RedisBodies(
            state, over: try await RedisConnection.connect(configuration), limit: 100_000_000, temporaryFolder: folder.path,
            patience: .milliseconds(1), outage: { told.yield($0) })
        let tags = SpreadTags.of("w:blob", count: 16)
        let away = cluster.nodes[1]
        var owners: [RedisServer] = []
        for tag in tags { owners.append(try await cluster.owner(of: cluster.slot(of: tag))) }
        /// A body whose part is at the server that goes away, or is not.
        func body(isAway: Bool) throws -> Download {
            let store = BlobStore(state)
            for number in 0..<1000 {
                let bytes = Array("body \(number)".utf8)
                if (owners[try store.part(of: SHA256Digest(of: bytes).bytes)] === away) == isAway {
                    return Download(finalURL: "http://h/", bytes: bytes)
                }
            }
            throw KitError("no body is in such a part")
        }
        let (lost, found) = (try body(isAway: true), try body(isAway: false))
        try await away.kill9()
        async let waiting = bodies.place(lost, digest: lost.body.digest, of: FullStoreTests.job(1))
        // The patience is over when the first call has failed.
        guard case .began? = await outages.first(where: { _ in true }) else { throw KitError("no outage was told") }
        guard case .held = try await bodies.place(found, digest: found.body.digest, of: FullStoreTests.job(2)) else {
            throw KitError("the body of another part has no place")
        }
        try await away.restart()
        try await cluster.serves(away)
        guard case .held = try await waiting else { throw KitError("the body has no place") }
        bodies.close()
        await state.connection.close()
    }

    @Test func `a stale body whose store does not answer is fetched whole, without its host's place being kept for it`() async throws {
        try await WorkerFixture.with { fixture in
            let answers = [("cache-control", "max-age=0"), ("etag", "\"1\"")]
            let downloader = ScriptedDownloader { .answer($0, answers) }
            for number in 0..<2 {
                try await fixture.fill(1..<2, batch: "batch \(number)")
                let worker = try await fixture.start(downloader, output: number == 0 ? try BodyFolder(fixture.folder.path) : SilentLooks())
                #expect(await worker.end.end == .empty)
                #expect(worker.count(where: \.isFetched) == 1)
                // The queue's clock counts milliseconds. An outcome may also go to a job that is enqueued in the same millisecond.
                try await fixture.redis.send(RedisCommand("BLPOP", "nothing", "0.01"))
            }
            #expect(downloader.requests.map { $0.headers.contains { $0.name.lowercased() == "if-none-match" } } == [false, false])
        }
    }
}

/// Takes every body, and never says whether it has one.
private struct SilentLooks: JobOutput {
    var bodyDestination: BodyDestination { .memory(upTo: 1 << 20, thenFileIn: "/tmp") }
    func found(_ job: Job) -> HeldBody? { nil }
    func held(_ outcome: URLOutcome, for job: Job) async throws -> HeldBody? {
        let (never, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        throw CancellationError()
    }
    func place(_ download: Download, digest: SHA256Digest, of job: Job) -> Placement { .held(HeldBody(file: nil)) }
    func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) {}
}
