import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

@Suite struct SettleTests {
    @Test(arguments: [
        (JobOutcome.done, QueueCounts(enqueued: 1, done: 1, bytes: 1234)), (.failed, QueueCounts(enqueued: 1, failed: 1)),
        (.handedBack, QueueCounts(ready: 1, enqueued: 1)),
    ])
    func `an outcome is counted once, and a repeat of it changes nothing`(outcome: JobOutcome, counts: QueueCounts) async throws {
        try await QueueFixture.with { queue in
            try await queue.fill([1])
            let lease = try await queue.claim(1).leases[0]
            #expect(try await queue.state.settle(lease.token, outcome, bytes: counts.bytes))
            #expect(try await queue.state.counts() == counts)
            let before = try await queue.dump()
            for outcome in [outcome, .done, .failed, .handedBack] {
                #expect(try await queue.state.settle(lease.token, outcome, bytes: 99) == false)
            }
            #expect(try await queue.dump() == before)
        }
    }

    @Test func `a job that is handed back is the next to be claimed, and not charged`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<3)
            let lease = try await queue.claim(1).leases[0]
            #expect(try await queue.state.settle(lease.token, .handedBack, bytes: 0))
            let again = try await queue.claim(1).leases[0]
            #expect(again.entry == lease.entry)
            #expect(again.token != lease.token)
        }
    }

    @Test func `a token of nobody changes nothing`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<2)
            let lease = try await queue.claim(1).leases[0]
            let before = try await queue.dump()
            var bytes = lease.token.bytes
            bytes[15] ^= 1
            for token in [LeaseToken(bytes), LeaseToken([]), LeaseToken(Array(lease.token.bytes.prefix(8)))] {
                #expect(try await queue.state.settle(token, .done, bytes: 1) == false)
            }
            #expect(try await queue.dump() == before)
        }
    }

    @Test func `the end of the last job is announced`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<2)
            let leases = try await queue.claim(2).leases
            let subscriber = try await RedisSubscriber.connect(queue.redis.configuration)
            var news = try await subscriber.subscribe(to: [queue.state.wakeChannel]).makeAsyncIterator()
            #expect(try await queue.state.settle(leases[0].token, .done, bytes: 1))
            try await queue.redis.send(RedisCommand("PUBLISH", .string(queue.state.wakeChannel), "between"))
            #expect(try await queue.state.settle(leases[1].token, .failed, bytes: 1))
            #expect(await news.next() == .message(channel: queue.state.wakeChannel, payload: Array("between".utf8)))
            #expect(await news.next() == .message(channel: queue.state.wakeChannel, payload: []))
            await subscriber.close()
        }
    }
}
