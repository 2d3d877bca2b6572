import RedisClient
import Testing

@testable import ClusterState

/// Every kind of drift, made by hand, is found, mended, and not found again; and what it stood in the way of goes on.
@Suite struct DriftTests {
    @Test func `a lease that would never end gets an end, and whoever holds it keeps it`() async throws {
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
    func `followers of a flight that Redis has lost are let go, and the lost job ends its batch`(isLockLost: Bool) async throws {
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
            let counts = try await fixture.queue.counts(ofBatch: batch)
            #expect(counts?.done == 2 && counts?.failed == 1 && counts?.isComplete == true)
        }
    }

    @Test func `callers who wait for nobody's fetch are told`() async throws {
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

    @Test func `a host that seems to have room it has not is counted anew`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let jobs = try await fixture.claim(4, hostLimit: 2).jobs
            #expect(jobs.count == 2)
            try await fixture.setRunning(0, host: "h0")
            // Jobs that wait for one of its requests to end, while none seems to be under way, are found by that as well.
            try await fixture.expectDrift([.hostCount], also: [.heldNotDue])
            #expect(try await fixture.claim(4, hostLimit: 2).jobs.isEmpty)
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            #expect(try await fixture.claim(4, hostLimit: 2).jobs.count == 2)
        }
    }

    @Test func `a host that seems to have no room is counted anew, and its jobs go on`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let jobs = try await fixture.claim(4, hostLimit: 2).jobs
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            try await fixture.setRunning(9, host: "h0")
            #expect(try await fixture.claim(4, hostLimit: 2).jobs.isEmpty)
            try await fixture.expectDrift([.hostCount])
            #expect(try await fixture.claim(4, hostLimit: 2).jobs.count == 2)
        }
    }

    @Test func `the followers of a caller whose flight is lost are let go, a worker is woken for them, and none is lost`() async throws {
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

            // The next list of followers that is let go is another one.
            #expect(try await fixture.settle(other[0], QueueFixture.fetched(other[0].entry.url)) == .settled)
            let job = try await fixture.claim(3).jobs
            #expect(job.map(\.entry.url) == ["http://h0/7"])
            #expect(try await fixture.queue.counts().done == 2)
        }
    }

    @Test(arguments: ["due", "mark", "never"])
    func `jobs held for a host are looked at again`(what: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            let job = try await fixture.claim(3, hostLimit: 1).jobs[0]
            if what != "mark" { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            switch what {
            case "due": try await fixture.send("DEL", fixture.queueKey("due:normal"))
            case "mark": try await fixture.send("DEL", "hosts")
            default: try await fixture.send("ZADD", fixture.queueKey("due:normal"), "inf", "h0")
            }
            try await fixture.expectDrift([.heldNotDue], also: [.hostCount])
            if what == "mark" { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            #expect(try await fixture.claim(3, hostLimit: 1).jobs.count == 1)
        }
    }

    @Test func `held jobs are found for a queue whose name looks like a part of a key`() async throws {
        try await QueueFixture.with { fixture in
            let name = "a:held:low:h0:ready:high"
            let fixture = QueueFixture(
                redis: fixture.redis, cluster: fixture.cluster, queue: fixture.cluster.queue(name), namespace: fixture.namespace)
            try await fixture.fill(0..<3)
            _ = try await fixture.claim(3, hostLimit: 1)
            #expect(try await fixture.cluster.audit(mend: false).isEmpty)
            try await fixture.send("DEL", .string("q:\(name):due:normal"))
            try await fixture.expectDrift([.heldNotDue])
        }
    }

    @Test(arguments: ["active", "parked", "delayed"], [true, false])
    func `a wrong counter is corrected`(part: String, ofBatch: Bool) async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill([1, 1, 2, 3])
            let jobs = try await fixture.claim(2).jobs
            _ = try await fixture.settle(jobs[1], .retry(after: .seconds(60)))
            let counts = try await fixture.queue.counts()
            #expect(counts.active == 1 && counts.parked == 1 && counts.delayed == 1 && counts.ready == 1)
            try await fixture.send("HINCRBY", fixture.queueKey(ofBatch ? "batch:\(batch)" : "count"), .string(part), "5")
            try await fixture.expectDrift([.counter])
            #expect(try await fixture.queue.counts() == counts)
        }
    }

    @Test func `jobs that are nowhere end as failed, so that nobody waits for them`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill(0..<5)
            try await fixture.send("LTRIM", fixture.queueKey("ready:normal"), "0", "2")
            try await fixture.expectDrift([.jobsLost])
            for job in try await fixture.claim(5).jobs { _ = try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) }
            #expect(try await fixture.claim(5).left == .nothing)
            let counts = try await fixture.queue.counts(ofBatch: batch)
            #expect(counts?.done == 2 && counts?.failed == 3 && counts?.isComplete == true)
        }
    }

    @Test func `a batch all of whose jobs are nowhere has ended`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            try await fixture.send("DEL", fixture.queueKey("ready:normal"))
            try await fixture.expectDrift([.jobsLost])
            #expect(try await fixture.send("ZCARD", fixture.queueKey("ended")) == .integer(1))
        }
    }

    @Test func `a namespace whose name looks like a pattern is audited, and no other`() async throws {
        try await QueueFixture.with { other in
            try await other.fill(0..<3)
            try await other.send("DEL", other.queueKey("ready:normal"))
            let namespace = "[\(other.namespace.prefix(1))]*?\\^"
            let cluster = ClusterState(other.redis, namespace: namespace)
            let fixture = QueueFixture(redis: other.redis, cluster: cluster, queue: cluster.queue("q"), namespace: namespace)
            try await fixture.fill(0..<3)
            #expect(try await cluster.audit(mend: false).isEmpty)
            try await fixture.send("DEL", fixture.queueKey("ready:normal"))
            #expect(try await cluster.audit(mend: true).map(\.count) == [3])
            try await fixture.queue.clear()
        }
    }

    @Test func `a queue whose counters are lost is counted anew, and served`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([1, 1, 2, 3])
            _ = try await fixture.claim(2)
            try await fixture.send("DEL", fixture.queueKey("count"))
            try await fixture.expectDrift([.counter, .jobsUncounted])
            let counts = try await fixture.queue.counts()
            #expect(counts.active == 2 && counts.parked == 1 && counts.ready == 1)
            #expect(try await fixture.claim(2).jobs.count == 1)
        }
    }

    @Test func `a key that holds something else is told of and left alone`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.send("RPUSH", fixture.lockKey(1), "x")
            try await fixture.send("SET", .bytes(fixture.keyBytes("parked:", 2)), "x")
            for _ in 0..<2 {
                let found = try await fixture.cluster.audit(mend: true)
                #expect(found.map(\.kind) == [.wrongType] && found.first?.count == 2 && found.first?.isMended == false)
            }
        }
    }

    @Test func `what is too large for one step is said not to be checked`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.queue.begin(batch: "b").number
            for chunk in stride(from: 0, to: 51_000, by: 1000) {
                let entries = try (chunk..<chunk + 1000).map { try QueueFixture.entry($0) }
                _ = try await fixture.queue.enqueue(entries, batch: batch, from: chunk, to: chunk + 1000)
            }
            _ = try await fixture.claim(1)
            try await fixture.send("HINCRBY", fixture.queueKey("count"), "active", "3")
            let found = try await fixture.cluster.audit(mend: true)
            // What is in flight is few, and counted all the same.
            #expect(Set(found.map(\.kind)) == [.notChecked, .counter])
            #expect(try await fixture.cluster.audit(mend: true).map(\.kind) == [.notChecked])
        }
    }

    @Test func `findings hold no URL and no token`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([7, 7, 8])
            let jobs = try await fixture.claim(3).jobs
            try await fixture.send("DEL", "leases", "hosts", fixture.queueKey("count"))
            for finding in try await fixture.cluster.audit(mend: false) {
                #expect(!finding.example.contains("http"))
                for job in jobs { #expect(finding.example.utf8.firstRange(of: job.token.bytes) == nil) }
            }
        }
    }
}
