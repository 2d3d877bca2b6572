import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// A redirect leads a job's request to another host, which has a limit of its own.
@Suite struct MoveTests {
    private static let usual = HostRule(limit: 2)

    @Test func `a request that is led on takes a place there and gives up its own`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let jobs = try await fixture.claim(4, hostLimit: 2).jobs
            #expect(jobs.count == 2)
            #expect(try await fixture.cluster.move(jobs[0].token, to: "other", usual: Self.usual) == .there)
            #expect(try await fixture.running() == ["h0": 1, "other": 1])
            // The place it had is another's now.
            let next = try await fixture.claim(4, hostLimit: 2).jobs
            #expect(next.count == 1)
            #expect(try await fixture.settle(jobs[0], QueueFixture.fetched("u")) == .settled)
            #expect(try await fixture.running() == ["h0": 2])
            #expect(try await fixture.moved().isEmpty)
        }
    }

    @Test func `a host without room lets nobody in, and who asks keeps what he has`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            let jobs = try await fixture.claim(3).jobs
            for job in jobs.prefix(2) { #expect(try await fixture.cluster.move(job.token, to: "other", usual: Self.usual) == .there) }
            #expect(try await fixture.cluster.move(jobs[2].token, to: "other", usual: Self.usual) == .full(opensIn: nil))
            #expect(try await fixture.running() == ["h0": 1, "other": 2])
            _ = try await fixture.settle(jobs[0], QueueFixture.fetched("u"))
            #expect(try await fixture.cluster.move(jobs[2].token, to: "other", usual: Self.usual) == .there)
            #expect(try await fixture.running() == ["other": 2])
        }
    }

    @Test func `a stored rule is before what workers say`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.cluster.setRule(HostRule(limit: 1), for: "other")
            try await fixture.fill(0..<2)
            let jobs = try await fixture.claim(2).jobs
            #expect(try await fixture.cluster.move(jobs[0].token, to: "other", usual: Self.usual) == .there)
            #expect(try await fixture.cluster.move(jobs[1].token, to: "other", usual: Self.usual) == .full(opensIn: nil))
        }
    }

    @Test func `the same again changes nothing, and back is a move as well`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<1)
            let job = try #require(try await fixture.claim(1).jobs.first)
            for _ in 0..<2 { #expect(try await fixture.cluster.move(job.token, to: "other", usual: Self.usual) == .there) }
            #expect(try await fixture.running() == ["other": 1])
            for _ in 0..<2 { #expect(try await fixture.cluster.move(job.token, to: "h0", usual: Self.usual) == .there) }
            #expect(try await fixture.running() == ["h0": 1])
            #expect(try await fixture.moved().isEmpty)
        }
    }

    @Test func `what a request shows is the host's that it was led to`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            let jobs = try await fixture.claim(2).jobs
            for job in jobs { #expect(try await fixture.cluster.move(job.token, to: "other", usual: Self.usual) == .there) }
            #expect(try await fixture.settle(jobs[0], .throttled(for: .seconds(60)), host: .none) == .settled)
            guard
                case .full(let pause?) = try await fixture.cluster.move(jobs[1].token, to: "h0", usual: Self.usual) == .there
                    ? fixture.cluster.move(jobs[1].token, to: "other", usual: Self.usual) : .lost
            else {
                Issue.record("the throttled host lets somebody in")
                return
            }
            #expect(pause > .seconds(50) && pause <= .seconds(60))
            // The other one goes on at once.
            try await fixture.fill(2..<3, batch: "more")
            #expect(try await fixture.claim(1).jobs.count == 1)
        }
    }

    @Test func `one that is put off costs neither itself nor its host anything`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            let jobs = try await fixture.claim(2).jobs
            #expect(try await fixture.settle(jobs[0], .putOff(for: .seconds(60)), host: .none) == .settled)
            let counts = try await fixture.queue.counts()
            #expect(counts.delayed == 1)
            try await fixture.fill(2..<3, batch: "more")
            #expect(try await fixture.claim(1).jobs.count == 1)
        }
    }

    #if canImport(Glibc)
    @Test func `the place of one whose worker died is free again, wherever it was`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill(0..<1)
            let job = try #require(try await fixture.claim(1).jobs.first)
            #expect(try await fixture.cluster.move(job.token, to: "other", usual: Self.usual) == .there)
            try await fixture.endLeases(clock)
            #expect(try await fixture.running().isEmpty)
            #expect(try await fixture.moved().isEmpty)
            #expect(try await fixture.cluster.move(job.token, to: "other", usual: Self.usual) == .lost)
        }
    }
    #endif

    @Test func `a run that takes its leases back frees the places as well`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<1)
            let job = try #require(try await fixture.claim(1).jobs.first)
            #expect(try await fixture.cluster.move(job.token, to: "other", usual: Self.usual) == .there)
            #expect(try await fixture.queue.reclaimAll() == 1)
            #expect(try await fixture.running().isEmpty)
            #expect(try await fixture.moved().isEmpty)
        }
    }

    @Test func `an audit knows of it, and forgets what is said of requests that are none`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<1)
            let job = try #require(try await fixture.claim(1).jobs.first)
            #expect(try await fixture.cluster.move(job.token, to: "other", usual: Self.usual) == .there)
            #expect(try await fixture.cluster.audit(mend: false).isEmpty)
            try await fixture.redis.send(RedisCommand("HSET", .string(fixture.key("moved")), "nobody's", "other"))
            let found = try await fixture.cluster.audit(mend: true)
            #expect(found.map(\.kind) == [.strayMove])
            #expect(try await fixture.cluster.audit(mend: false).isEmpty)
            #expect(try await fixture.moved().count == 1)
        }
    }
}

extension QueueFixture {
    fileprivate func moved() async throws -> [RedisReply] {
        try await redis.send(RedisCommand("HKEYS", .string(key("moved")))).asArray()
    }
}
