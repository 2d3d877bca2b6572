import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// A redirect leads a job's request to another host, which has a limit of its own.
@Suite struct MoveTests {
    private static let usual = HostRule(limit: 2)

    @Test func `a redirected request takes a place at the new host and gives up its own`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let jobs = try await fixture.claim(4, hostLimit: 2).jobs
            #expect(jobs.count == 2)
            #expect(try await fixture.cluster.move(jobs[0].token, to: "other", usual: Self.usual) == .there)
            #expect(try await fixture.running() == ["h0": 1, "other": 1])
            // Another job has the earlier place now.
            let next = try await fixture.claim(4, hostLimit: 2).jobs
            #expect(next.count == 1)
            #expect(try await fixture.settle(jobs[0], QueueFixture.fetched("u")) == .settled)
            #expect(try await fixture.running() == ["h0": 2])
            #expect(try await fixture.moved().isEmpty)
        }
    }

    @Test func `a host without room takes no request, and the request keeps its place`() async throws {
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

    @Test func `a stored rule outranks what workers say`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.cluster.setRule(HostRule(limit: 1), for: "other")
            try await fixture.fill(0..<2)
            let jobs = try await fixture.claim(2).jobs
            #expect(try await fixture.cluster.move(jobs[0].token, to: "other", usual: Self.usual) == .there)
            #expect(try await fixture.cluster.move(jobs[1].token, to: "other", usual: Self.usual) == .full(opensIn: nil))
        }
    }

    @Test func `a repeated move changes nothing, and the way back is a move as well`() async throws {
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

    @Test func `the result of a request counts for the host that it was led to`() async throws {
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
            // The other job goes on at once.
            try await fixture.fill(2..<3, batch: "more")
            #expect(try await fixture.claim(1).jobs.count == 1)
        }
    }

    @Test func `a job that is put off costs neither itself nor its host anything`() async throws {
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
    @Test func `the place of a job whose worker died is free again, at whichever host it was`() async throws {
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

    @Test func `an audit knows of moved requests, and removes notes about requests that do not exist`() async throws {
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
