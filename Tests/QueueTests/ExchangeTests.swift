import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// An exchange has a number, and belongs to one life of a process.
@Suite struct ExchangeTests {
    private static let process = Incarnation(7)

    private func request(_ number: Int, _ change: (inout ExchangeRequest) -> Void = { _ in }) -> ExchangeRequest {
        var request = ExchangeRequest(Self.process, number: number, lease: QueueFixture.lease)
        request.host = HostRule(limit: 1000, first: 1000)
        change(&request)
        return request
    }

    /// Closures stand outside of `#expect`: the compiler takes one inside for another of the same type beside it.
    private func send(_ request: ExchangeRequest, _ fixture: QueueFixture) async throws -> ExchangeAnswer {
        guard let answer = try await fixture.queue.exchange(request, in: fixture.cluster.home) else {
            throw KitError("the lease has ended")
        }
        return answer
    }

    private func fetched(_ job: Job) -> Settlement { Settlement(job.token, job.id, QueueFixture.fetched(job.url), host: .answered) }

    /// The URLs of the jobs of an answer, with their tokens.
    private func held(_ answer: ExchangeAnswer) -> [URLID: LockToken] {
        Dictionary(uniqueKeysWithValues: answer.jobs.map { ($0.id, $0.token) })
    }

    @Test func `a repeated exchange has the same answer, and does nothing twice`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6)
            try await fixture.fill([0], batch: "known")
            let first = try await send(request(1) { $0.wanted = 3 }, fixture)
            // Of three outcomes one is nobody's, and two come twice. The end of URL 0 lets its second job be delivered.
            let lost = Settlement(LockToken(counter: 1, incarnation: Self.process), QueueFixture.id(5), .handedBack)
            let second = request(2) {
                $0.settlements = [fetched(first.jobs[0]), lost, fetched(first.jobs[1]), fetched(first.jobs[0]), lost]
                $0.wanted = 3
            }
            let answer = try await send(second, fixture)
            #expect(answer.verdicts == [.settled, .lost, .settled, .settled, .lost])
            let counts = try await fixture.queue.counts()
            for _ in 0..<3 {
                let again = try await send(second, fixture)
                #expect(again.verdicts == answer.verdicts && held(again) == held(answer) && again.held == answer.held)
                #expect(Set(again.jobs.map { $0.outcome == nil }) == Set(answer.jobs.map { $0.outcome == nil }))
            }
            #expect(try await fixture.queue.counts() == counts)
            #expect(counts.done == 2 && counts.fetched == 2 && counts.active == 4)
            try await fixture.expectSound()
        }
    }

    @Test func `a repeated exchange does not name jobs that were taken back meanwhile`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            let only = request(1) { $0.wanted = 2 }
            #expect(try await fixture.queue.exchange(only, in: fixture.cluster.home)?.jobs.count == 2)
            try await fixture.queue.reclaimAll()
            let again = try await send(only, fixture)
            #expect(again.jobs.isEmpty && again.held == 0)
        }
    }

    @Test func `an exchange that comes after its successor is refused, and changes nothing`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6)
            let early = request(1) { $0.wanted = 2 }
            let job = try await send(early, fixture).jobs[0]
            let late = request(2) { $0.settlements = [fetched(job)] }
            _ = try await fixture.queue.exchange(request(3) { $0.wanted = 1 }, in: fixture.cluster.home)
            let before = try await fixture.dump()
            for stale in [early, late] {
                let error = await #expect(throws: StateError.self) { try await fixture.queue.exchange(stale, in: fixture.cluster.home) }
                #expect(error.map { "\($0)".contains("STALE") } == true)
            }
            #expect(try await fixture.dump().differences(from: before) == [])
        }
    }

    @Test func `after a failover that lost exchanges, the next one is carried out and the holdings are compared`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6)
            let first = try await send(request(1) { $0.wanted = 2 }, fixture)
            // Redis knows of the first exchange only. Meanwhile the process has ended one job, and got two others.
            let second = request(4) { $0.wanted = 1 }
            let answer = try await send(second, fixture)
            #expect(answer.jobs.count == 1 && answer.held == 3)
            // The process knows of the first job's lock and of this answer's, and of one that Redis has forgotten.
            let known = [first.jobs[0].id, answer.jobs[0].id]
            let third = request(5) { $0.held = (known + [QueueFixture.id(77)]).map { .lock($0) } }
            #expect(try await fixture.queue.exchange(third, in: fixture.cluster.home)?.held == 2)
            let back = try await fixture.claim(1, worker: "other").jobs
            #expect(back.map(\.id) == [first.jobs[1].id] && back.allSatisfy { $0.crashes == 0 && $0.failures == 0 })
            #expect(try await fixture.queue.counts().crashed == 0)
            try await fixture.expectSound()
        }
    }

    @Test func `deliveries and places that a process does not name go back as well`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0, 1], hosts: 2)
            let jobs = try await send(request(1) { $0.wanted = 2 }, fixture).jobs
            #expect(
                try await fixture.queue.move(jobs[1], to: "other", usual: HostRule(limit: 1, first: 1000), lease: QueueFixture.lease)
                    == .there)
            try await fixture.fill([0], hosts: 2, batch: "again")
            let second = request(2) {
                $0.settlements = [fetched(jobs[0])]
                $0.wanted = 1
            }
            let delivery = try #require(try await send(second, fixture).jobs.first)
            #expect(delivery.outcome != nil)
            let third = try await send(request(3) { $0.held = [] }, fixture)
            #expect(third.held == 0)
            #expect(try await fixture.running().isEmpty)
            let next = try await fixture.claim(2, worker: "next").jobs
            #expect(next.count == 2 && Set(next.map(\.id)) == [jobs[1].id, delivery.id])
            try await fixture.expectSound()
        }
    }

    @Test func `one malformed outcome fails alone`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let jobs = try await send(request(1) { $0.wanted = 4 }, fixture).jobs
            // No outcome is kept for no time at all: the typed call cannot send this one.
            let settlements = jobs.map { fetched($0).bytes }
            var broken = settlements[1]
            broken.replaceSubrange(34..<40, with: [UInt8](repeating: 0, count: 6))
            let cut = Array(settlements[2].prefix(40))
            let sent: [[UInt8]] = [settlements[0], cut, broken, cut, settlements[3]]
            let arguments: [RedisArgument] =
                [
                    .bytes(Self.process.bytes), 2, 30_000, 3_600_000, 0, 0, "", 8, 0, "0.5", 0, 100, .integer(sent.count), 0, 1, 0, 1, 0, 0,
                ] + sent.map { .bytes($0) }
            let reply = try await fixture.cluster.run(
                ClusterScripts.standard.exchange, in: fixture.cluster.home, queue: fixture.queue.name, arguments)
            let answer = try #require(try ExchangeAnswer(reply, partition: 0))
            #expect(answer.verdicts == [.settled, .malformed, .malformed, .malformed, .settled])
            #expect(answer.held == 2)
            #expect(try await fixture.queue.counts().done == 2)
            try await fixture.expectSound()
        }
    }

    @Test func `an exchange settles and brings no more than it may`() async throws {
        let one = Settlement(LockToken(counter: 1, incarnation: Self.process), QueueFixture.id(1), .handedBack)
        let refused = [
            request(1) { ($0.wanted, $0.spare) = (200, 57) }, request(1) { $0.wanted = -1 }, request(1) { $0.lease = .zero },
            request(1) { $0.lease = .seconds(86_401) }, request(1) { $0.settlements = Array(repeating: one, count: 257) },
        ]
        try await QueueFixture.with { fixture in
            for asked in refused {
                await #expect(throws: StateError.self) { try await fixture.queue.exchange(asked, in: fixture.cluster.home) }
            }
            let left = try await fixture.dump().values
            #expect(left.isEmpty)
        }
    }

    @Test func `a lease that has ended is never revived`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<2)
            let job = try await send(request(1) { $0.wanted = 1 }, fixture).jobs[0]
            for _ in 0..<7 {
                clock.advance(by: .seconds(5))
                // Nobody has taken anything back yet: only lease time goes on.
                try await fixture.queue.pause()
            }
            for number in 1...3 {
                let asked = request(number) { $0.wanted = 1 }
                #expect(try await fixture.queue.exchange(asked, in: fixture.cluster.home) == nil, "\(number)")
            }
            let acquire = AcquireRequest(
                id: QueueFixture.id(9), host: "h", incarnation: Self.process, nonce: 1, lease: QueueFixture.lease)
            #expect(try await fixture.cluster.acquire(acquire).fate == .ended)
            #expect(
                try await fixture.queue.move(job, to: "other", usual: HostRule(limit: 1, first: 1000), lease: QueueFixture.lease) == .lost)
            try await fixture.queue.resume()
            try await fixture.endLeases(clock)
            // The process has nothing any more. No call gives it a lease again, not even one that would be the first of a process.
            for number in 1...2 { #expect(try await fixture.queue.exchange(request(number), in: fixture.cluster.home) == nil) }
            #expect(try await fixture.cluster.acquire(acquire).fate == .ended)
            #expect(try await fixture.claim(2).jobs.map(\.crashes).sorted() == [0, 1])
        }
    }

    @Test func `a call that finds a lease ended does not extend another worker's`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<1)
            let short = try await fixture.exchange(Incarnation(1), lease: .seconds(3)) { $0.wanted = 1 }
            #expect(short?.jobs.count == 1)
            // One step of lease time is a third of the shortest lease.
            for _ in 0..<3 {
                clock.advance(by: .seconds(1))
                #expect(try await fixture.exchange(Incarnation(2), lease: .seconds(3)) != nil)
            }
            #expect(try await fixture.exchange(Incarnation(1), lease: .seconds(3)) == nil)
            #expect(try await fixture.queue.counts().crashed == 1)
        }
    }
}
