import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A redirect leads a job's request to another host, which has a limit of its own and may be in another partition.
@Suite struct MoveTests {
    /// Two hosts: the first is of the home partition, and so is the second unless it is elsewhere.
    private struct Hosts {
        let from: String
        let to: String

        init(_ cluster: ClusterState, isElsewhere: Bool) throws {
            from = try #require((0...).lazy.map { "from\($0)" }.first { cluster.partition(of: $0) == cluster.home })
            to = try #require((0...).lazy.map { "to\($0)" }.first { (cluster.partition(of: $0) == cluster.home) != isElsewhere })
        }
    }

    private func with(_ isElsewhere: Bool, _ body: (QueueFixture, Hosts) async throws -> Void) async throws {
        try await QueueFixture.with(partitions: isElsewhere ? 3 : 1) { try await body($0, try Hosts($0.cluster, isElsewhere: isElsewhere)) }
    }

    /// Accepts jobs of one host, and returns those that a worker got.
    private func claim(_ numbers: Range<Int>, of host: String, _ fixture: QueueFixture, limit: Int = 1000) async throws -> [Job] {
        let entries = try numbers.map { try JobEntry(id: QueueFixture.id($0), host: host, url: "http://\(host)/\($0)") }
        try await fixture.accept(entries, batch: "\(numbers)")
        return try await fixture.claim(numbers.count, hostLimit: limit, in: fixture.cluster.partition(of: host)).jobs
    }

    private func move(_ job: Job, to host: String, _ fixture: QueueFixture, limit: Int = 2) async throws -> Passage {
        try await fixture.queue.move(job, to: host, usual: HostRule(limit: limit, first: 1000), lease: QueueFixture.lease)
    }

    /// Gives a request's place in another partition up, as its worker does after the end of the request.
    private func leave(_ job: Job, at host: String, _ fixture: QueueFixture, _ news: Settlement.HostNews = .answered) async throws {
        let partition = fixture.cluster.partition(of: host)
        if partition.index == job.partition { return }
        let answer = try await fixture.exchange(job.token.incarnation, in: partition) {
            $0.settlements = [Settlement(job.token, job.id, .leftPlace, host: news)]
        }
        #expect(answer?.verdicts == [.settled])
    }

    @Test(arguments: [false, true])
    func `a redirected request takes a place at the new host and gives up its own`(isElsewhere: Bool) async throws {
        try await with(isElsewhere) { fixture, hosts in
            let jobs = try await claim(0..<4, of: hosts.from, fixture, limit: 2)
            #expect(jobs.count == 2)
            #expect(try await move(jobs[0], to: hosts.to, fixture) == .there)
            #expect(try await fixture.running() == [hosts.from: 1, hosts.to: 1])
            // Another job has the earlier place now.
            #expect(try await fixture.claim(4, hostLimit: 2).jobs.count == 1)
            #expect(try await fixture.settle(jobs[0], QueueFixture.fetched("u")) == .settled)
            try await leave(jobs[0], at: hosts.to, fixture)
            #expect(try await fixture.running() == [hosts.from: 2])
            try await fixture.expectSound()
        }
    }

    @Test(arguments: [false, true])
    func `a host without room takes no request, and the request waits without a place`(isElsewhere: Bool) async throws {
        try await with(isElsewhere) { fixture, hosts in
            let jobs = try await claim(0..<3, of: hosts.from, fixture)
            for job in jobs.prefix(2) { #expect(try await move(job, to: hosts.to, fixture) == .there) }
            #expect(try await move(jobs[2], to: hosts.to, fixture) == .full(opensIn: nil))
            #expect(try await fixture.running() == [hosts.to: 2])
            try await fixture.expectSound()
            _ = try await fixture.settle(jobs[0], QueueFixture.fetched("u"))
            try await leave(jobs[0], at: hosts.to, fixture)
            #expect(try await move(jobs[2], to: hosts.to, fixture) == .there)
            #expect(try await fixture.running() == [hosts.to: 2])
            try await fixture.expectSound()
        }
    }

    @Test func `a request that has ended leaves its place, also in the call that ends its job or after it`() async throws {
        try await with(false) { fixture, hosts in
            let jobs = try await claim(0..<4, of: hosts.from, fixture)
            func settle(_ settlements: [Settlement]) async throws -> [Verdict]? {
                try await fixture.exchange(jobs[0].token.incarnation, in: fixture.cluster.home) { $0.settlements = settlements }?.verdicts
            }
            let leaves = jobs.map { Settlement($0.token, $0.id, .leftPlace, host: .answered) }
            let ends = jobs.map { Settlement($0.token, $0.id, QueueFixture.fetched("u"), host: .answered) }
            #expect(try await settle([leaves[0]]) == [.settled])
            #expect(try await fixture.running() == [hosts.from: 3])
            // The URL stays locked, and its place is left once.
            #expect(try await settle([leaves[0], leaves[1], ends[1], leaves[1]]) == [.lost, .settled, .settled, .lost])
            #expect(try await fixture.running() == [hosts.from: 2])
            #expect(try await settle([ends[2], leaves[2]]) == [.settled, .lost])
            #expect(try await fixture.running() == [hosts.from: 1])
            // A delivery of the same URL before the end is none of the lock's business.
            let delivery = Settlement(
                LockToken(counter: 77, incarnation: jobs[3].token.incarnation), jobs[3].id, .delivered, isDelivery: true)
            #expect(try await settle([delivery, ends[3], leaves[3], ends[0]]) == [.lost, .settled, .lost, .settled])
            #expect(try await fixture.running() == [:])
            #expect(try await fixture.queue.counts().done == 4)
            try await fixture.expectSound()
        }
    }

    @Test(arguments: [false, true]) func `two full hosts that lead to each other do not block each other`(isElsewhere: Bool) async throws {
        try await with(isElsewhere) { fixture, hosts in
            let there = try await claim(0..<2, of: hosts.from, fixture)
            let back = try await claim(2..<4, of: hosts.to, fixture)
            for job in there { #expect(try await move(job, to: hosts.to, fixture) == .full(opensIn: nil)) }
            for job in back { #expect(try await move(job, to: hosts.from, fixture) == .there) }
            for job in there { #expect(try await move(job, to: hosts.to, fixture) == .there) }
            #expect(try await fixture.running() == [hosts.from: 2, hosts.to: 2])
            try await fixture.expectSound()
        }
    }

    @Test func `a queue with many jobs for a host leaves turns to requests that are led there`() async throws {
        try await QueueFixture.with { fixture in
            let moved = try #require(try await claim(0..<1, of: "h0", fixture).first)
            var held = try await claim(1..<9, of: "busy", fixture, limit: 1)
            #expect(held.count == 1)
            #expect(try await move(moved, to: "busy", fixture, limit: 1) == .full(opensIn: nil))
            for _ in 0..<2 {
                guard let job = held.first else { break }
                held = try await fixture.claim(1, hostLimit: 1) {
                    $0.settlements = [Settlement(job.token, job.id, QueueFixture.fetched(job.url), host: .answered)]
                }.jobs
            }
            #expect(held.isEmpty)
            #expect(try await move(moved, to: "busy", fixture, limit: 1) == .there)
            #expect(try await fixture.running() == ["busy": 1])
            try await fixture.expectSound()
        }
    }

    @Test(arguments: [false, true]) func `a stored rule outranks what workers say`(isElsewhere: Bool) async throws {
        try await with(isElsewhere) { fixture, hosts in
            try await fixture.cluster.set(OperatorRule(hosts.to, limit: 1))
            let jobs = try await claim(0..<2, of: hosts.from, fixture)
            #expect(try await move(jobs[0], to: hosts.to, fixture) == .there)
            #expect(try await move(jobs[1], to: hosts.to, fixture) == .full(opensIn: nil))
        }
    }

    @Test(arguments: [false, true])
    func `a repeated move changes nothing, and another redirect is a move as well`(isElsewhere: Bool) async throws {
        try await with(isElsewhere) { fixture, hosts in
            let job = try #require(try await claim(0..<1, of: hosts.from, fixture).first)
            for _ in 0..<2 { #expect(try await move(job, to: hosts.to, fixture) == .there) }
            #expect(try await fixture.running() == [hosts.to: 1])
            for _ in 0..<2 { #expect(try await move(job, to: hosts.from, fixture) == .there) }
            try await leave(job, at: hosts.to, fixture)
            #expect(try await fixture.running() == [hosts.from: 1])
            try await fixture.expectSound()
            #expect(try await fixture.settle(job, QueueFixture.fetched("u")) == .settled)
            #expect(try await fixture.running().isEmpty)
        }
    }

    @Test(arguments: [false, true]) func `the result of a request counts for the host that it was led to`(isElsewhere: Bool) async throws {
        try await with(isElsewhere) { fixture, hosts in
            let other = try #require(try await claim(0..<1, of: hosts.from, fixture).first)
            do {
                let job = try #require(try await claim(10..<11, of: hosts.from, fixture).first)
                #expect(try await move(job, to: hosts.to, fixture) == .there)
                let failure = QueueFixture.retried(job.url, after: .seconds(3600))
                #expect(try await fixture.settle(job, failure, host: isElsewhere ? .none : .silent) == .settled)
                try await leave(job, at: hosts.to, fixture, .silent)
            }
            guard case .full(let pause?) = try await move(other, to: hosts.to, fixture) else {
                Issue.record("a host that takes no connection lets somebody in")
                return
            }
            #expect(pause > .zero && pause <= .seconds(1))
            // The job's own host is as it was.
            #expect(try await claim(20..<22, of: hosts.from, fixture).count == 2)
        }
    }

    @Test func `a request of the same partition that is throttled cools the host down that it was led to`() async throws {
        try await QueueFixture.with { fixture in
            let jobs = try await claim(0..<2, of: "h0", fixture)
            #expect(try await move(jobs[0], to: "other", fixture) == .there)
            #expect(try await fixture.settle(jobs[0], QueueFixture.throttled("u", for: .seconds(60)), host: .none) == .settled)
            guard case .full(let pause?) = try await move(jobs[1], to: "other", fixture) else {
                Issue.record("the throttled host lets somebody in")
                return
            }
            #expect(pause > .seconds(50) && pause <= .seconds(60))
            #expect(try await claim(2..<3, of: "h0", fixture).count == 1)
        }
    }

    @Test func `a job that is put off costs neither itself nor its host anything`() async throws {
        try await QueueFixture.with { fixture in
            let jobs = try await claim(0..<2, of: "h0", fixture)
            #expect(try await fixture.settle(jobs[0], .putOff(OutcomeContent(url: "u"), for: .seconds(60)), host: .none) == .settled)
            #expect(try await fixture.queue.counts().delayed == 1)
            let lock = try await fixture.looks()[0].locks[jobs[0].id.bytes]
            #expect(lock?.failures == 0 && lock?.crashes == 0)
            #expect(try await claim(2..<3, of: "h0", fixture).count == 1)
        }
    }

    @Test(arguments: [false, true])
    func `a move between partitions that stopped after its first half is gone on with or taken back`(goesOn: Bool) async throws {
        try await with(true) { fixture, hosts in
            let job = try #require(try await claim(0..<1, of: hosts.from, fixture).first)
            // The caller died before it told the URL's own partition.
            let target = fixture.cluster.partition(of: hosts.to)
            _ = try await fixture.cluster.run(
                ClusterScripts.standard.place, in: target,
                [.bytes(job.id.bytes), .bytes(job.token.bytes), .string(hosts.to), 2, 0, "take", 30_000, 1])
            #expect(try await fixture.running() == [hosts.from: 1, hosts.to: 1])
            if goesOn {
                #expect(try await move(job, to: hosts.to, fixture) == .there)
                #expect(try await fixture.running() == [hosts.to: 1])
                #expect(try await fixture.settle(job, QueueFixture.fetched("u")) == .settled)
                try await leave(job, at: hosts.to, fixture)
            } else {
                // The worker does not name the place among what it holds there.
                let named = try await fixture.exchange(job.token.incarnation, in: target) { $0.held = [] }
                #expect(named?.held == 0)
                #expect(try await fixture.settle(job, QueueFixture.fetched("u")) == .settled)
            }
            #expect(try await fixture.running().isEmpty)
            try await fixture.expectSound()
        }
    }

    @Test func `a run that takes its leases back frees the places as well`() async throws {
        try await QueueFixture.with { fixture in
            let job = try #require(try await claim(0..<1, of: "h0", fixture).first)
            #expect(try await move(job, to: "other", fixture) == .there)
            #expect(try await fixture.queue.reclaimAll() == 1)
            #expect(try await fixture.running().isEmpty)
            try await fixture.expectSound()
        }
    }

    @Test(arguments: [false, true]) func `an audit knows of moved requests`(isElsewhere: Bool) async throws {
        try await with(isElsewhere) { fixture, hosts in
            let job = try #require(try await claim(0..<1, of: hosts.from, fixture).first)
            #expect(try await move(job, to: hosts.to, fixture) == .there)
            #expect(try await fixture.cluster.audit(mend: false).isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `the place of a job whose worker died is free again, at whichever host it was`(isElsewhere: Bool) async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        server.clock.stop()
        try await QueueFixture.with(server, partitions: isElsewhere ? 3 : 1) { fixture in
            let hosts = try Hosts(fixture.cluster, isElsewhere: isElsewhere)
            let job = try #require(try await claim(0..<1, of: hosts.from, fixture).first)
            #expect(try await move(job, to: hosts.to, fixture) == .there)
            for _ in 0..<10 {
                server.clock.advance(by: .seconds(5))
                for partition in fixture.cluster.partitions { _ = try await fixture.claim(0, worker: "passer-by", in: partition) }
            }
            #expect(try await fixture.running().isEmpty)
            #expect(try await move(job, to: hosts.to, fixture) != .there)
            try await fixture.expectSound()
        }
        try await server.stop()
    }
}
