import GannetTestKit
import Testing

@testable import GannetQueue

/// A host that asks for patience, or cannot be reached, is left alone by all workers for a while.
@Suite struct CoolDownTests {
    private static func throttle(_ fixture: QueueFixture, for length: Duration? = nil, random: Double = 1) async throws {
        let job = try #require(try await fixture.claim(1).jobs.first)
        let answer = try await fixture.claim(0) {
            $0.settlements = [Settlement(job.token, job.id, QueueFixture.throttled(job.url, for: length), host: .answered)]
            $0.random = random
        }
        #expect(answer.verdicts == [.settled])
    }

    @Test func `a host that names a pause gets no request before its end, then one, then as many as before`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<10)
            try await Self.throttle(fixture, for: .seconds(20))
            for _ in 0..<4 {
                #expect(try await fixture.claim(10, hostLimit: 3).jobs.isEmpty)
                clock.advance(by: .milliseconds(4999))
            }
            #expect(try await fixture.claim(10, hostLimit: 3).jobs.isEmpty)
            clock.advance(by: .milliseconds(4))
            let probe = try await fixture.claim(10, hostLimit: 3).jobs
            // The URL that was put off leaves the first request to another one.
            #expect(probe.map(\.id) == [QueueFixture.id(1)])
            #expect(try await fixture.claim(10, hostLimit: 3).jobs.isEmpty)
            #expect(try await fixture.settle(probe[0], QueueFixture.fetched("u")) == .settled)
            var next = try await fixture.claim(10, hostLimit: 3).jobs
            #expect(next.count == 3)
            for job in next { _ = try await fixture.settle(job, QueueFixture.fetched(job.url)) }
            next += try await fixture.claimAll(10, hostLimit: 3) { _ = try await fixture.settle($0, QueueFixture.fetched($0.url)) }
            #expect(next.count == 9)
            let again = next.first { $0.id == QueueFixture.id(0) }
            #expect(again?.failures == 0 && again?.throttled == .milliseconds(20_000))
        }
    }

    @Test(arguments: [false, true])
    func `a URL that was put off leaves its host the next probe, and goes before the other jobs after that`(
        standAside: Bool
    ) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<100)
            try await Self.throttle(fixture, for: .seconds(20))
            // A worker that asks meanwhile meets the host at rest, and then all its jobs stand aside.
            if standAside { #expect(try await fixture.claim(10).jobs.isEmpty) }
            for probe in 1...2 {
                clock.advance(by: .seconds(21))
                let job = try #require(try await fixture.claimSoon(10).first)
                #expect(job.id == QueueFixture.id(probe))
                #expect(try await fixture.claim(10).jobs.isEmpty)
                let outcome = probe == 1 ? QueueFixture.throttled(job.url, for: .seconds(20)) : QueueFixture.fetched(job.url)
                #expect(try await fixture.settle(job, outcome) == .settled)
            }
            let next = try await fixture.claimSoon(3).map(\.id)
            #expect(Set(next.prefix(2)) == [QueueFixture.id(0), QueueFixture.id(1)] && next.count == 3)
            try await fixture.expectSound()
        }
    }

    @Test func `a URL that its host refuses again, while it serves others, rests no host and comes back ever later`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<40)
            try await Self.throttle(fixture)
            clock.advance(by: .seconds(1))
            // The probe goes to another URL, and the host answers it.
            let probe = try #require(try await fixture.claim(1).jobs.first)
            #expect(try await fixture.settle(probe, QueueFixture.fetched(probe.url)) == .settled)
            var pauses: [Int] = []
            for _ in 0..<4 {
                let refused = try #require(try await fixture.claim(1).jobs.first)
                #expect(refused.id == QueueFixture.id(0))
                let settlement = Settlement(refused.token, refused.id, QueueFixture.throttled(refused.url, for: nil), host: .answered)
                let answer = try await fixture.claim(2) {
                    $0.settlements = [settlement]
                    $0.random = 1
                }
                // Others go on at once.
                #expect(answer.jobs.count == 2)
                for job in answer.jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled) }
                let lock = try #require(try await fixture.looks()[0].locks[refused.id.bytes])
                pauses.append(lock.began - answer.now)
                clock.advance(by: .milliseconds(pauses.last ?? 0))
            }
            #expect(pauses == pauses.sorted() && pauses.first == 1000 && (pauses.last ?? 0) > 1500, "\(pauses)")
            try await fixture.expectSound()
        }
    }

    @Test(arguments: [(1.0, 1.0), (0.0, 0.5), (0.5, 0.75)])
    func `a cool-down without a length doubles from one second to ten minutes, spread by half`(random: Double, part: Double) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<1)
            for level in 0..<14 {
                let before = try await fixture.claim(0).now
                try await Self.throttle(fixture, random: random)
                let pause = min(600_000, 1000 << level)
                let host = try #require(try await fixture.host("h0"))
                #expect(host.cool - before == Int(Double(pause) * part))
                clock.advance(by: .milliseconds(host.cool - before))
            }
            #expect(try await fixture.queue.counts().crashed == 0)
        }
    }

    @Test func `eight requests in flight that fail together lengthen a cool-down once`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<8)
            let jobs = try await fixture.claim(8).jobs
            for job in jobs {
                let settlement = Settlement(job.token, job.id, QueueFixture.throttled(job.url, for: nil))
                let answer = try await fixture.claim(0) {
                    $0.settlements = [settlement]
                    $0.random = 1
                }
                #expect(answer.verdicts == [.settled])
            }
            #expect(try await fixture.host("h0")?.level == 1)
            clock.advance(by: .seconds(1))
            #expect(try await fixture.claim(8).jobs.count == 1)
        }
    }

    @Test func `an answer of any kind makes the next cool-down the first again`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<3)
            for _ in 0..<3 {
                try await Self.throttle(fixture)
                clock.advance(by: .seconds(10))
            }
            #expect(try await fixture.host("h0")?.level == 3)
            let job = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(job, QueueFixture.failed("u")) == .settled)
            #expect(try await fixture.host("h0").map(\.level) ?? 0 == 0)
        }
    }

    @Test func `three requests in a row without an answer cool a host that has answered, and an answer between them prevents it`()
        async throws
    {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<20)
            func fail(_ times: Int) async throws {
                for _ in 0..<times {
                    let job = try #require(try await fixture.claim(1).jobs.first)
                    #expect(
                        try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(3600)), host: .silent) == .settled)
                }
            }
            for _ in 0..<2 {
                let job = try await fixture.claim(1).jobs[0]
                #expect(try await fixture.settle(job, QueueFixture.fetched("u")) == .settled)
                try await fail(2)
            }
            // An attempt that shows nothing about the host is no answer.
            let other = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(other, QueueFixture.retried(other.url, after: .seconds(3600)), host: .none) == .settled)
            try await fail(1)
            #expect(try await fixture.claim(5).jobs.isEmpty)
            clock.advance(by: .milliseconds(750))
            #expect(try await fixture.claim(5).jobs.count == 1)
        }
    }
}
