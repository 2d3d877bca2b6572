import GannetBase
import GannetHTTP
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue
@testable import Results

/// Bodies that wait for room in Redis.
@Suite(.timeLimit(.minutes(3))) struct FullStoreTests {
    static func job(_ number: Int) -> Job {
        Job(
            token: LockToken(counter: UInt64(number), incarnation: Incarnation(1)),
            entry: JobEntry(checked: WorkerFixture.id(number), "h", WorkerFixture.url(number)), queue: "q", partition: 0, batch: 1,
            terms: LeasedBatch(name: "b"))
    }

    private static func place(_ number: Int, in bodies: RedisBodies) async throws -> Placement {
        let bytes = [UInt8](repeating: UInt8(number), count: 100)
        let download = Download(finalURL: WorkerFixture.url(number), bytes: bytes)
        return try await bodies.place(download, digest: SHA256Digest(of: bytes), of: job(number))
    }

    private static func refusals(_ server: RedisServer) async throws -> Int {
        let text = try await server.command("INFO", "errorstats").text ?? ""
        let number = text.split(separator: "errorstat_OOM:count=").dropFirst().first?.prefix { $0.isNumber }
        return number.flatMap { Int($0) } ?? 0
    }

    @Test func `bodies that wait for room one after the other are told as one time of waiting`() async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server) { fixture in
            let bodies = try await fixture.redisBodies(calm: .seconds(3600))
            let told = Mutex<[StoreRoom]>([])
            bodies.watchRoom { room in told.withLock { $0.append(room) } }
            for number in 1...3 {
                let before = try await Self.refusals(server)
                try await server.command("CONFIG", "SET", "maxmemory", "1")
                async let placement = Self.place(number, in: bodies)
                try await eventually("a body waits for room") { try await Self.refusals(server) > before }
                try await server.command("CONFIG", "SET", "maxmemory", "0")
                guard case .held = try await placement else { throw KitError("the body has no place") }
            }
            #expect(told.withLock { $0 } == [.full(server: "unix://\(server.socketPath)")])
            bodies.close()
        }
        try await server.stop()
    }

    @Test func `it is told once bodies wait no more`() async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server) { fixture in
            let bodies = try await fixture.redisBodies(calm: .zero)
            let told = Mutex<[StoreRoom]>([])
            bodies.watchRoom { room in told.withLock { $0.append(room) } }
            try await server.command("CONFIG", "SET", "maxmemory", "1")
            async let placement = Self.place(1, in: bodies)
            try await eventually("it is told that a body waits") { told.withLock { $0.count } == 1 }
            try await server.command("CONFIG", "SET", "maxmemory", "0")
            guard case .held = try await placement else { throw KitError("the body has no place") }
            try await eventually("it is told that there is room") { told.withLock { $0.last } == .there }
            bodies.close()
        }
        try await server.stop()
    }
}

/// Workers whose Redis has no room, because nobody has exported what it has.
@Suite(.timeLimit(.minutes(3))) struct HeldStoreTests {
    private static func namesTheBatch(_ report: WorkerReport) -> Bool {
        guard case .room(.held(let batches)) = report else { return false }
        return batches == [HoldingBatch(queue: "q", batch: "b")]
    }

    @Test func `a worker takes no more jobs until a batch is exported, and goes on then`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<12)
            // Each body is another one of almost a million bytes, and there is room for four.
            let downloader = ScriptedDownloader { .body($0 + String(repeating: "x", count: 900_000)) }
            let bodies = RedisBodies(
                fixture.queue.cluster, over: fixture.redis, limit: 4_000_000, temporaryFolder: fixture.folder.path, patience: .seconds(20),
                calm: .seconds(3600))
            let worker = try await fixture.start(downloader, output: bodies) { $0.concurrency = 2 }
            await worker.wait(for: Self.namesTheBatch)
            // Jobs in flight wait with their bodies, and no patience ends that.
            try await eventually("all that was taken waits") { try await fixture.queue.counts().fetched == 4 }
            let store = BlobStore(fixture.queue.cluster)
            try await store.release(try await store.holdingBatches())
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isFetched) == 12 && downloader.urls.count == 12)
            bodies.close()
        }
    }

    @Test func `the bodies of a batch that is a cache make room for one another`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<12, keeping: .cache)
            let downloader = ScriptedDownloader { .body($0 + String(repeating: "x", count: 900_000)) }
            let bodies = RedisBodies(
                fixture.queue.cluster, over: fixture.redis, limit: 4_000_000, temporaryFolder: fixture.folder.path, patience: .seconds(20))
            let worker = try await fixture.start(downloader, output: bodies) { $0.concurrency = 2 }
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isFetched) == 12)
            #expect(try await BlobStore(fixture.queue.cluster).usage().memory <= 5_000_000)
            bodies.close()
        }
    }
}
