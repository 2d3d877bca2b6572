import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

@Suite struct EnqueueTests {
    @Test func `a chunk is accepted once, and a repeat is answered but not added`() async throws {
        try await QueueFixture.with { queue in
            let urls = (0..<3).map(QueueFixture.url)
            let first = try await queue.state.enqueue(urls, batch: "b", from: 0, to: 5)
            #expect(first == BatchProgress(offset: 5, added: 3, repeated: 0))
            let before = try await queue.dump()
            let again = try await queue.state.enqueue(urls, batch: "b", from: 0, to: 5)
            #expect(again == first)
            #expect(try await queue.dump() == before)
            #expect(try await queue.state.progress(ofBatch: "b") == first)
        }
    }

    @Test func `a chunk from the middle of what is accepted, or beyond it, is not added`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<3)
            for (start, end) in [(1, 4), (2, 3), (4, 9)] {
                let answer = try await queue.state.enqueue([QueueFixture.url(9)], batch: "b", from: start, to: end)
                #expect(answer == BatchProgress(offset: 3, added: 3, repeated: 0))
            }
            #expect(try await queue.state.counts().ready == 3)
        }
    }

    @Test func `the next chunk goes on at the offset where the last one ended`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<3)
            let answer = try await queue.state.enqueue([QueueFixture.url(2), QueueFixture.url(3)], batch: "b", from: 3, to: 5)
            #expect(answer == BatchProgress(offset: 5, added: 4, repeated: 1))
        }
    }

    @Test func `a URL is a job once while it waits or is in flight, and again when it has ended`() async throws {
        try await QueueFixture.with { queue in
            let twice = try await queue.state.enqueue([QueueFixture.url(0), QueueFixture.url(0)], batch: "a", from: 0, to: 2)
            #expect(twice == BatchProgress(offset: 2, added: 1, repeated: 1))
            let lease = try #require(try await queue.claim(1).leases.first)
            let inFlight = try await queue.state.enqueue([QueueFixture.url(0)], batch: "b", from: 0, to: 1)
            #expect(inFlight.repeated == 1)
            #expect(try await queue.state.settle(lease.token, .done, bytes: 1))
            let ended = try await queue.state.enqueue([QueueFixture.url(0)], batch: "c", from: 0, to: 1)
            #expect(ended.added == 1)
            #expect(try await queue.state.counts().enqueued == 2)
        }
    }

    @Test func `a chunk far larger than Lua's stack is accepted whole and in order`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<20_000)
            #expect(try await queue.state.counts() == QueueCounts(ready: 20_000, enqueued: 20_000))
            let entries = try await queue.claim(20_000).leases.map(\.entry)
            #expect(entries.map(\.url) == (0..<20_000).map { QueueFixture.url($0).url })
            #expect(entries.map(\.serial) == Array(1...20_000))
        }
    }

    @Test func `an empty chunk moves the offset alone`() async throws {
        try await QueueFixture.with { queue in
            let answer = try await queue.state.enqueue([], batch: "b", from: 0, to: 7)
            #expect(answer == BatchProgress(offset: 7, added: 0, repeated: 0))
            #expect(try await queue.state.counts() == QueueCounts())
        }
    }

    @Test func `new jobs are announced, repeats are not`() async throws {
        try await QueueFixture.with { queue in
            let subscriber = try await RedisSubscriber.connect(queue.redis.configuration)
            var news = try await subscriber.subscribe(to: [queue.state.wakeChannel]).makeAsyncIterator()
            try await queue.fill([0])
            #expect(await news.next() == .message(channel: queue.state.wakeChannel, payload: []))
            try await queue.fill([0], batch: "repeated")
            // Had the repeat been announced, its message would stand before this one.
            try await queue.redis.send(RedisCommand("PUBLISH", .string(queue.state.wakeChannel), "last"))
            #expect(await news.next() == .message(channel: queue.state.wakeChannel, payload: Array("last".utf8)))
            await subscriber.close()
        }
    }

    @Test func `URLs and ids of any bytes come back as they were`() async throws {
        let all = String(decoding: Array(UInt8(1)...0x7f), as: UTF8.self)
        let texts = ["x", all, "\0\0", "http://ä/ü?\u{1f9a2}#\u{fffd}", String(repeating: "é", count: 4096), "\r\n", "\u{10ffff}"]
        let ids = texts.indices.map { index in URLID((0..<16).map { UInt8(truncatingIfNeeded: index * 37 + $0 * 17) })! }
        try await QueueFixture.with { queue in
            _ = try await queue.state.enqueue(Array(zip(ids, texts).map { (id: $0, url: $1) }), batch: "b", from: 0, to: 9)
            let entries = try await queue.claim(100).leases.map(\.entry)
            #expect(entries.map(\.url) == texts)
            #expect(entries.map(\.id) == ids)
            #expect(entries.map(\.serial) == Array(1...texts.count))
            #expect(entries.allSatisfy { $0.crashes == 0 })
        }
    }

    @Test func `what a batch is made from is noted once`() async throws {
        try await QueueFixture.with { queue in
            #expect(try await queue.state.begin(batch: "b", source: "one") == "one")
            #expect(try await queue.state.begin(batch: "b", source: "two") == "one")
            #expect(try await queue.state.progress(ofBatch: "b") == BatchProgress(offset: 0, added: 0, repeated: 0))
            try await queue.state.forget(batch: "b")
            #expect(try await queue.state.begin(batch: "b", source: "two") == "two")
        }
    }

    @Test func `every key begins with the namespace as its hash tag, and clearing leaves none`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<3)
            let leases = try await queue.claim(2).leases
            #expect(try await queue.state.settle(leases[0].token, .done, bytes: 1))
            let keys = try await queue.keys()
            #expect(keys == ["batch:b", "count", "expiry", "known", "leases", "ready:normal"].map(queue.key))
            #expect(queue.state.wakeChannel == queue.key("wake"))
            try await queue.state.clear(batch: "b")
            #expect(try await queue.keys() == [])
        }
    }
}
