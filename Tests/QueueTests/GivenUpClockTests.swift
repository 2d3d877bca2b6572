import GannetTestKit
import Testing

@testable import GannetQueue

/// A host or a URL is given up when its time is over, and not only when somebody would ask the host again.
@Suite struct GivenUpClockTests {
    private static let minute = Duration.seconds(60)

    /// The exchange of a worker that waits for a minute, with the end of a job.
    private func exchange(
        _ fixture: QueueFixture, _ job: Job? = nil, _ outcome: Settlement.Outcome = .handedBack, _ host: Settlement.HostNews = .none,
        wanted: Int = 0, since: Int? = 0
    ) async throws -> ExchangeAnswer {
        try await fixture.claim(wanted, lease: .seconds(3600)) {
            if let job { $0.settlements = [Settlement(job.token, job.id, outcome, host: host)] }
            $0.hostPatience = HostPatience(Self.minute)
            $0.giveUpAfter = Self.minute
            $0.since = since
            $0.random = 1
        }
    }

    @Test func `the jobs of a host that asks for an hour end when its time is over, with that answer, and it is asked after the hour`()
        async throws
    {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<10)
            let first = try #require(try await exchange(fixture, wanted: 1).jobs.first)
            let ended = try await exchange(fixture, first, QueueFixture.throttled(first.url, for: .seconds(3600)), .answered, wanted: 5)
            #expect(ended.jobs.isEmpty)
            clock.advance(by: Self.minute - .milliseconds(1))
            #expect(try await exchange(fixture, wanted: 20).jobs.isEmpty)
            clock.advance(by: .milliseconds(1))
            let jobs = try await exchange(fixture, wanted: 20).jobs
            #expect(Set(jobs.map(\.id)).count == 10 && jobs.allSatisfy { $0.isHopeless && $0.hostFailure?.url == first.url })
            for job in jobs { _ = try await exchange(fixture, job, QueueFixture.failed(job.url)) }
            #expect(try await fixture.queue.counts().failed == 10)

            clock.advance(by: .seconds(3600))
            try await fixture.fill(20..<22, batch: "later")
            let probe = try await exchange(fixture, wanted: 1).jobs
            #expect(probe.count == 1 && !probe[0].isHopeless)
            _ = try await exchange(fixture, probe[0], QueueFixture.fetched(probe[0].url), .answered)
            #expect(try await fixture.host("h0")?.isGivenUp != true)
            try await fixture.expectSound()
        }
    }

    @Test func `the jobs of a silent host end when its patience is over, while it rests`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<10)
            var asked = 0
            var ended: [Job] = []
            var passed = Duration.zero
            while ended.isEmpty, passed < Self.minute * 3 {
                let answer = try await exchange(fixture, wanted: 1)
                for job in answer.jobs where !job.isHopeless {
                    asked += 1
                    _ = try await exchange(fixture, job, QueueFixture.retried(job.url, after: .zero), .silent)
                }
                ended = answer.jobs.filter(\.isHopeless)
                if answer.jobs.isEmpty {
                    clock.advance(by: .milliseconds(500))
                    passed += .milliseconds(500)
                }
            }
            // The rests double: 1, 2, 4, 8, 16 and 32 s are over after 63 s.
            #expect(passed == Self.minute && asked == 6, "\(passed), \(asked)")
            #expect(try await fixture.host("h0")?.isGivenUp == true)
        }
    }

    @Test func `runs that begin have a silent host asked sooner, and leave its clock to those who wait`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<1)
            var (asked, passed) = (0, Duration.zero)
            var ended: [Job] = []
            while ended.isEmpty, passed < Self.minute * 3 {
                let answer = try await exchange(fixture, wanted: 1)
                ended = answer.jobs.filter(\.isHopeless)
                for job in answer.jobs where !job.isHopeless {
                    asked += 1
                    let failure = QueueFixture.retried(job.url, after: .zero)
                    ended += try await exchange(fixture, job, failure, .silent, wanted: 1).jobs.filter(\.isHopeless)
                }
                guard ended.isEmpty else { break }
                clock.advance(by: .seconds(4))
                passed += .seconds(4)
                try await fixture.cluster.forgiveHosts()
            }
            // A request each time, where the rests of 16 and 32 s would have kept it waiting.
            #expect(passed == Self.minute && asked == 16, "\(passed), \(asked)")
            // Nobody asks it now, so a run that begins asks as if it had never failed.
            try await fixture.cluster.forgiveHosts()
            #expect(try await fixture.host("h0")?.isGivenUp != true)
        }
    }

    @Test func `an answer that comes while the host rests sets its clock back`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<10)
            let two = try await exchange(fixture, wanted: 2).jobs
            #expect(two.count == 2)
            _ = try await exchange(fixture, two[0], QueueFixture.throttled(two[0].url, for: .seconds(3600)), .answered)
            clock.advance(by: .seconds(59))
            _ = try await exchange(fixture, two[1], QueueFixture.fetched(two[1].url), .answered)
            clock.advance(by: .seconds(59))
            // The URL that was put off has its own clock, and it is over now.
            let early = try await exchange(fixture, wanted: 20).jobs
            #expect(early.map(\.id) == [two[0].id] && early.allSatisfy { $0.isHopeless && $0.hostFailure?.url == two[0].url }, "\(early)")
            clock.advance(by: .seconds(1))
            #expect(try await exchange(fixture, wanted: 20).jobs.count { $0.isHopeless } == 8)
        }
    }

    @Test func `a URL that was put off before a worker began has the worker's whole patience`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<1)
            let first = try #require(try await exchange(fixture, wanted: 1).jobs.first)
            _ = try await exchange(fixture, first, QueueFixture.throttled(first.url, for: .seconds(30)), .answered)
            clock.advance(by: .seconds(600))
            _ = try await fixture.cluster.forgiveHosts()
            let begun = try await exchange(fixture, wanted: 1, since: nil)
            let again = try #require(begun.jobs.first)
            #expect(!again.isHopeless)
            let rests = QueueFixture.throttled(first.url, for: .seconds(3600))
            let answer = try await exchange(fixture, again, rests, .answered, wanted: 1, since: begun.now)
            #expect(answer.jobs.isEmpty)
            clock.advance(by: Self.minute)
            #expect(try await exchange(fixture, wanted: 1, since: begun.now).jobs.map(\.isHopeless) == [true])
        }
    }

    @Test func `a rest that a host asked an earlier run for costs a later run none of its patience`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<4)
            let first = try #require(try await exchange(fixture, wanted: 1).jobs.first)
            _ = try await exchange(fixture, first, QueueFixture.throttled(first.url, for: .seconds(3600)), .answered)
            clock.advance(by: .seconds(50))
            try await fixture.cluster.forgiveHosts()
            let begun = try await exchange(fixture, wanted: 20, since: nil)
            #expect(begun.jobs.isEmpty)
            clock.advance(by: Self.minute - .milliseconds(1))
            #expect(try await exchange(fixture, wanted: 20, since: begun.now).jobs.isEmpty)
            clock.advance(by: .milliseconds(1))
            let ended = try await exchange(fixture, wanted: 20, since: begun.now).jobs
            #expect(ended.count == 4 && ended.allSatisfy(\.isHopeless), "\(ended.count)")
        }
    }

    @Test func `a host that is forgiven is asked again, or has its time anew where it asked for the rest`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<8, hosts: 2)
            for job in try await exchange(fixture, wanted: 8).jobs {
                let isSilent = job.host == "h0"
                let end = isSilent ? QueueFixture.retried(job.url, after: .zero) : QueueFixture.throttled(job.url, for: .seconds(3600))
                _ = try await exchange(fixture, job, end, isSilent ? .silent : .answered)
            }
            clock.advance(by: Self.minute)
            // The host that rests is given up. The rest of the other is over, and its jobs wait for a probe.
            var ended = try await exchange(fixture, wanted: 20).jobs
            let asked = ended.filter { !$0.isHopeless }
            #expect(ended.count == 5 && asked.map(\.host) == ["h0"])
            for job in asked { _ = try await exchange(fixture, job, QueueFixture.retried(job.url, after: .zero), .silent) }
            ended = ended.filter(\.isHopeless) + (try await exchange(fixture, wanted: 20).jobs)
            #expect(ended.count == 8 && ended.allSatisfy(\.isHopeless))
            for job in ended { _ = try await exchange(fixture, job, QueueFixture.failed(job.url)) }
            try await fixture.cluster.forgiveHosts()
            try await fixture.fill(10..<18, hosts: 2, batch: "more")
            let probe = try await exchange(fixture, wanted: 20).jobs
            #expect(!probe.isEmpty && probe.allSatisfy { $0.host == "h0" && !$0.isHopeless })
            clock.advance(by: Self.minute - .milliseconds(1))
            #expect(try await exchange(fixture, wanted: 20).jobs.isEmpty)
            clock.advance(by: .milliseconds(1))
            #expect(try await exchange(fixture, wanted: 20).jobs.filter { $0.host == "h1" }.count == 4)
            #expect(try await fixture.cluster.forgive("h1"))
            #expect(try await !fixture.cluster.forgive("h1"))
            try await fixture.fill([21], hosts: 2, batch: "last")
            #expect(try await exchange(fixture, wanted: 20).jobs.map(\.isHopeless) == [false])
        }
    }

    @Test func `jobs wait for the probe of a host that is given up, and for no request from before that`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<5)
            let first = try #require(try await exchange(fixture, wanted: 1).jobs.first)
            _ = try await exchange(fixture, first, QueueFixture.throttled(first.url, for: .seconds(20)), .answered)
            clock.advance(by: .seconds(20))
            let probe = try #require(try await exchange(fixture, wanted: 5).jobs.first)
            clock.advance(by: .seconds(40))
            // It is given up while it is asked. Nobody waits for the answer.
            let ended = try await exchange(fixture, wanted: 5).jobs
            #expect(ended.count == 4 && ended.allSatisfy(\.isHopeless))
            for job in ended { _ = try await exchange(fixture, job, QueueFixture.failed(job.url)) }
            _ = try await exchange(fixture, probe, QueueFixture.throttled(probe.url, for: .seconds(20)), .answered, wanted: 5)
            try await fixture.fill(10..<15, batch: "more")
            #expect(try await exchange(fixture, wanted: 9).jobs.allSatisfy(\.isHopeless))
            try await fixture.fill(20..<25, batch: "later")
            clock.advance(by: .seconds(20))
            let next = try await exchange(fixture, wanted: 9).jobs
            #expect(next.count == 1 && !next[0].isHopeless)
            #expect(try await exchange(fixture, wanted: 9).jobs.isEmpty)
            _ = try await exchange(fixture, next[0], QueueFixture.fetched(next[0].url), .answered)
            #expect(try await fixture.claimAll(9).count { !$0.isHopeless } == 4)
        }
    }

    @Test func `a worker that waits for ever gives nothing up`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<4)
            let first = try #require(try await fixture.claim(1).jobs.first)
            _ = try await exchange(fixture, first, QueueFixture.throttled(first.url, for: .seconds(3600)), .answered)
            clock.advance(by: .seconds(3000))
            #expect(try await fixture.claim(20).jobs.isEmpty)
            #expect(try await fixture.host("h0")?.isGivenUp == false)
            clock.advance(by: .seconds(600))
            #expect(try await fixture.claim(20).jobs.map(\.isHopeless) == [false])
        }
    }
}
