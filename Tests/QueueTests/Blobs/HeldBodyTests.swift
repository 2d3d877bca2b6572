import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Bodies of batches stay until somebody has exported them, and others make room.
@Suite struct HeldBodyTests {
    /// Room for three bodies of a million bytes.
    private static let limit = 4_000_000

    private struct Store {
        let fixture: QueueFixture
        var blobs: BlobStore { BlobStore(fixture.cluster) }

        func put(_ number: Int, for batch: String? = nil) async throws -> BlobPutAnswer {
            let blob = Blob(digest: BlobFixture.digest(number), bytes: BlobFixture.body(number, 1_000_000), for: batch.map(name))
            return try await blobs.put([blob], limit: HeldBodyTests.limit, sparing: .zero)[0].get()
        }

        /// Which of the first bodies are there.
        func there(_ numbers: Range<Int> = 0..<8) async throws -> [Int] {
            let are = try await blobs.areThere(numbers.map { (BlobFixture.digest($0), 1_000_000) })
            return zip(numbers, are).filter(\.1).map(\.0)
        }

        func begin(_ batch: String, _ keeping: Keeping = .bodies, closes: Bool = false) async throws {
            var options = BatchOptions()
            options.keeping = keeping
            var progress = try await fixture.queue.begin(batch: batch, options: options)
            if closes { _ = try await fixture.queue.enqueue([], to: 1, of: &progress, closing: true) }
        }

        func exported(_ number: Int, of batch: String) async throws {
            try await blobs.exported([(BlobFixture.digest(number), 1_000_000)], of: name(batch))
        }

        func name(_ batch: String) -> HoldingBatch { HoldingBatch(queue: fixture.queue.name, batch: batch) }
    }

    private func with(_ body: (Store) async throws -> Void) async throws {
        try await QueueFixture.with { try await body(Store(fixture: $0)) }
    }

    @Test func `the bodies of a batch stay until it is released, and others make room`() async throws {
        try await with { store async throws in
            try await store.begin("b")
            #expect(try await store.put(0, for: "b") == .stored)
            for number in 1...3 { #expect(try await store.put(number) == .stored) }
            #expect(try await store.there() == [0, 2, 3])
            for number in 4...5 { #expect(try await store.put(number, for: "b") == .stored) }
            #expect(try await store.there() == [0, 4, 5])
            #expect(try await store.put(6, for: "b") == .held)
            #expect(try await store.put(6) == .held)
            #expect(try await store.put(4) == .present)
            #expect(try await store.blobs.usage().memory <= Self.limit)
            #expect(try await store.blobs.holdingBatches() == [store.name("b")])
            try await store.blobs.release([store.name("b")])
            for number in 6...7 { #expect(try await store.put(number) == .stored) }
            #expect(try await store.there() == [5, 6, 7])
        }
    }

    @Test func `a cached body that a batch uses stays, and a cache's use of a batch's body takes nothing away`() async throws {
        try await with { store async throws in
            try await store.begin("b")
            for number in 0...2 { #expect(try await store.put(number) == .stored) }
            #expect(try await store.blobs.contains([(BlobFixture.digest(0), 1_000_000, batch: store.name("b"))]) == [true])
            #expect(try await store.put(0) == .present)
            #expect(try await store.put(1, for: "b") == .present)
            #expect(try await store.put(3) == .stored)
            // A body makes no room in the millisecond of its use.
            try await eventually("the body before makes room") { try await store.put(4) == .stored }
            #expect(try await store.there() == [0, 1, 4])
        }
    }

    @Test func `a body that two batches have stays until both are exported`() async throws {
        try await with { store async throws in
            for batch in ["a", "b"] { try await store.begin(batch) }
            #expect(try await store.put(0, for: "a") == .stored)
            #expect(try await store.put(0, for: "b") == .present)
            for number in 1...2 { #expect(try await store.put(number, for: "a") == .stored) }
            try await store.blobs.release([store.name("a")])
            for number in 3...4 { #expect(try await store.put(number) == .stored) }
            #expect(try await store.there() == [0, 3, 4])
            try await store.blobs.release([store.name("b")])
            #expect(try await store.put(5) == .stored)
            #expect(try await store.there() == [3, 4, 5])
        }
    }

    @Test func `an export before the end frees what it has, and nothing else`() async throws {
        try await with { store async throws in
            try await store.begin("b")
            for number in 0...2 { #expect(try await store.put(number, for: "b") == .stored) }
            try await store.exported(1, of: "b")
            try await store.exported(7, of: "b")
            #expect(try await store.put(3, for: "b") == .stored)
            #expect(try await store.put(4, for: "b") == .held)
            #expect(try await store.there() == [0, 2, 3])
            // A job that needs it once more has it stay once more.
            try await store.exported(2, of: "b")
            #expect(try await store.put(2, for: "b") == .present)
            #expect(try await store.put(4, for: "b") == .held)
        }
    }

    @Test func `a full Redis notes that a batch needs a body that is there`() async throws {
        try await BlobFixture.withServer { fixture, server in
            let batch = HoldingBatch(queue: "q", batch: "b")
            let body = (digest: BlobFixture.digest(0), size: 1_000_000, batch: Optional(batch))
            #expect(try await fixture.store.hold(batch))
            for number in 0...1 { #expect(try await fixture.put(number, 1_000_000) == .stored) }
            try await server.command("CONFIG", "SET", "maxmemory", "1")
            #expect(try await fixture.store.contains([body]) == [true])
            let again = Blob(digest: BlobFixture.digest(1), bytes: BlobFixture.body(1, 1_000_000), for: batch)
            #expect(try await fixture.store.put([again], limit: 1 << 30)[0].get() == .present)
            let members = try await fixture.redis.send(RedisCommand("SCARD", fixture.key("of:q:b"))).asInteger()
            #expect(members == 2)
            try await server.command("CONFIG", "SET", "maxmemory", "0")
        }
    }

    @Test func `a batch whose bodies are a cache holds nothing, and neither does one that was released`() async throws {
        try await with { store async throws in
            try await store.begin("cache", .cache)
            try await store.begin("a", .wire)
            #expect(try await store.blobs.holdingBatches() == [store.name("a")])
            try await store.blobs.release([store.name("a")])
            for number in 0...4 { #expect(try await store.put(number, for: number.isMultiple(of: 2) ? "cache" : "a") == .stored) }
            #expect(try await store.there() == [2, 3, 4])
        }
    }

    @Test func `an open batch that is begun again holds its bodies, and a closed one is not held again`() async throws {
        try await with { store async throws in
            try await store.begin("b")
            for number in 0...2 { #expect(try await store.put(number, for: "b") == .stored) }
            try await store.begin("b", closes: true)
            #expect(try await store.put(3) == .held)
            try await store.blobs.release([store.name("b")])
            try await store.begin("b")
            #expect(try await store.blobs.holdingBatches() == [])
        }
    }

    @Test func `a batch holds bodies again once one of its jobs is tried again, unless its bodies are a cache`() async throws {
        try await with { store async throws in
            var options = BatchOptions()
            try await store.fixture.fill([0], batch: "a", options: options)
            options.keeping = .cache
            try await store.fixture.fill([1], batch: "c", options: options)
            for job in try await store.fixture.claim(2).jobs { _ = try await store.fixture.settle(job, QueueFixture.failed(job.url)) }
            try await store.blobs.release([store.name("a")])
            #expect(try await store.blobs.holdingBatches() == [])
            #expect(try await store.fixture.queue.retry(JobSelection(.dead)).count == 2)
            #expect(try await store.blobs.holdingBatches() == [store.name("a")])
        }
    }

    @Test func `a batch holds a body for thirty days after its last use`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            let store = Store(fixture: fixture)
            try await store.begin("b")
            for number in 0...2 { #expect(try await store.put(number, for: "b") == .stored) }
            clock.advance(by: .seconds(29 * 86_400))
            #expect(try await store.put(1, for: "b") == .present)
            #expect(try await store.put(3, for: "b") == .held)
            clock.advance(by: .seconds(2 * 86_400))
            for number in 3...4 { #expect(try await store.put(number, for: "b") == .stored) }
            #expect(try await store.put(5, for: "b") == .held)
            #expect(try await store.there() == [1, 3, 4])
        }
    }

    @Test func `thousands of bodies are released, a part in each step`() async throws {
        try await with { store async throws in
            try await store.begin("b")
            let small = (0..<1000).map { Blob(digest: BlobFixture.digest($0), bytes: [UInt8($0 % 251)], for: store.name("b")) }
            _ = try await store.blobs.put(small, limit: Self.limit, sparing: .zero)
            try await store.blobs.release([store.name("b")])
            #expect(
                try await store.fixture.cluster.connection.send(
                    RedisCommand("ZCOUNT", .string("{\(store.fixture.namespace):blob}s"), "0", "+inf")
                ).asInteger() == 0)
            #expect(try await store.blobs.usage().blobs == 1000)
        }
    }

    @Test func `a queue that is emptied holds nothing, and neither does a batch that its queue has forgotten`() async throws {
        try await with { store async throws in
            try await store.begin("a")
            let other = store.fixture.cluster.queue("other")
            _ = try await other.begin(batch: "a b:c")
            try await store.fixture.queue.purge()
            let kept = HoldingBatch(queue: "other", batch: "a b:c")
            #expect(try await store.blobs.holdingBatches() == [kept])
            try await store.blobs.releaseForgotten(in: store.fixture.cluster)
            #expect(try await store.blobs.holdingBatches() == [kept])
            try await store.fixture.send("ZREM", "q:other:batches", "a b:c")
            try await store.blobs.releaseForgotten(in: store.fixture.cluster)
            #expect(try await store.blobs.holdingBatches() == [])
        }
    }
}
