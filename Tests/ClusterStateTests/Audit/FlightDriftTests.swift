import RedisClient
import Testing

@testable import ClusterState

/// Drift of leases, locks and followers that was made by hand is found, mended, and not found again. Jobs that it held up go on.
@Suite(.timeLimit(.minutes(1))) struct FlightDriftTests {
    @Test func `a lease that would never end gets an end, and its holder keeps it`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            let jobs = try await fixture.claim(2).jobs
            try await fixture.send("ZREM", "expiry", .bytes(jobs[0].token.bytes))
            try await fixture.expectDrift([.leaseWithoutExpiry])
            #expect(try await fixture.cluster.renew(jobs.map(\.token), lease: QueueFixture.lease).isEmpty)
        }
    }

    @Test func `the end of a lease that is not there is dropped`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<1)
            _ = try await fixture.claim(1)
            try await fixture.send("ZADD", "expiry", "1e12", "0123456789abcdef")
            try await fixture.expectDrift([.expiryWithoutLease])
        }
    }

    @Test(arguments: [false, true])
    func `a URL in flight is locked again`(isAnothers: Bool) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<1)
            let job = try await fixture.claim(1).jobs[0]
            if isAnothers {
                try await fixture.send("SET", fixture.lockKey(0), "0123456789abcdef")
                try await fixture.expectDrift([.flightWithoutLock], also: [.lockWithoutFlight])
            } else {
                try await fixture.send("DEL", fixture.lockKey(0))
                try await fixture.expectDrift([.flightWithoutLock])
            }
            #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled)
        }
    }

    @Test(arguments: [false, true])
    func `followers of a lease that Redis has lost are let go, and the lost job ends its batch`(isLockLost: Bool) async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill([7, 7, 7])
            let lost = try await fixture.claim(3).jobs[0]
            #expect(try await fixture.queue.counts().parked == 2)
            try await fixture.send("HDEL", "leases", .bytes(lost.token.bytes))
            try await fixture.send("ZREM", "expiry", .bytes(lost.token.bytes))
            if isLockLost { try await fixture.send("DEL", fixture.lockKey(7)) }
            let kind: AuditFinding.Kind = isLockLost ? .parkedWithoutFlight : .lockWithoutFlight
            try await fixture.expectDrift([kind, .hostCount, .counter, .jobsLost])
            let job = try await fixture.claim(3).jobs[0]
            #expect(job.entry.url == lost.entry.url)
            #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled)
            #expect(try await fixture.claim(3).left == .nothing)
            let counts = try await fixture.queue.batches([batch]).first
            #expect(counts?.done == 2 && counts?.failed == 1 && counts?.isComplete == true)
        }
    }

    @Test func `callers that wait for a URL that nobody fetches are told`() async throws {
        try await QueueFixture.with { fixture in
            let inbox = fixture.cluster.inbox(of: "p")
            let subscriber = try await RedisSubscriber.connect(fixture.redis.configuration)
            let subscription = try await subscriber.subscribe(to: [inbox])
            try await fixture.send("SADD", .bytes(fixture.keyBytes("waiters:", 5)), .string(inbox))
            try await fixture.expectDrift([.waitersWithoutFlight])
            var messages = subscription.makeAsyncIterator()
            #expect(await messages.next() != nil)
            await subscriber.close()
        }
    }

    @Test func `a chain that no claim would have found is named again`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([7, 7, 7])
            let job = try await fixture.claim(3).jobs[0]
            #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled)
            try await fixture.send("DEL", "freed")
            try await fixture.expectDrift([.chainNotNamed])
            #expect(try await fixture.claim(3).left == .nothing)
            #expect(try await fixture.queue.counts().done == 3)
        }
    }

    @Test func `the name of a chain that is not there is dropped, and its jobs count as lost`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([7, 7, 7])
            let job = try await fixture.claim(3).jobs[0]
            #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled)
            try await fixture.send("DEL", "chain:1")
            try await fixture.expectDrift([.freedWithoutChain, .counter, .jobsLost])
            #expect(try await fixture.claim(3).left == .nothing)
            #expect(try await fixture.queue.counts().failed == 2)
        }
    }

    @Test func `the followers of a caller whose lease is lost are let go, a worker is woken for them, and none is lost`() async throws {
        try await QueueFixture.with { fixture in
            let asked = AcquireRequest(id: QueueFixture.id(7), nonce: Nonce(1), lease: QueueFixture.lease)
            guard case .leased(let token, _) = try await fixture.cluster.acquire(asked).fate else { throw RedisError(.unexpectedReply) }
            try await fixture.fill([7, 8, 8], hosts: 1)
            let other = try await fixture.claim(3).jobs
            #expect(other.map(\.entry.url) == ["http://h0/8"])
            try await fixture.send("HDEL", "leases", .bytes(token.bytes))
            try await fixture.send("ZREM", "expiry", .bytes(token.bytes))

            let inbox = fixture.cluster.inbox(of: "idle")
            let subscriber = try await RedisSubscriber.connect(fixture.redis.configuration)
            var messages = try await subscriber.subscribe(to: [inbox]).makeAsyncIterator()
            var request = ClaimRequest(1, lease: QueueFixture.lease, nonce: Nonce(2), worker: "idle")
            request.inbox = inbox
            #expect(try await fixture.queue.claim(request).jobs.isEmpty)
            try await fixture.expectDrift([.lockWithoutFlight])
            #expect(await messages.next() == .message(channel: inbox, payload: Array("qq".utf8)))
            await subscriber.close()

            // Other followers are let go next, in another list.
            #expect(try await fixture.settle(other[0], QueueFixture.fetched(other[0].entry.url)) == .settled)
            let job = try await fixture.claim(3).jobs
            #expect(job.map(\.entry.url) == ["http://h0/7"])
            #expect(try await fixture.queue.counts().done == 2)
        }
    }
}
