import GannetTestKit
import Testing

@testable import ClusterState

#if canImport(Glibc)
/// A host has one place until it answers. Each answer doubles its places, and a request without an answer takes them back.
@Suite struct EarnedPlacesTests {
    /// Asks for many jobs, and settles these with them.
    private func claim(
        _ fixture: QueueFixture, _ ends: [(Job, Settlement.Outcome, Settlement.HostNews)] = [], worker: String = "w", limit: Int = 8,
        patience: HostPatience = .usual
    ) async throws -> [Job] {
        let answer = try await fixture.claim(100, worker: worker) {
            $0.settlements = ends.map { Settlement($0.0.token, $0.0.id, $0.1, host: $0.2) }
            $0.host = HostRule(limit: limit)
            $0.hostPatience = patience
            $0.random = 1
        }
        #expect(answer.verdicts.allSatisfy { $0 == .settled })
        return answer.jobs
    }

    private func answered(_ job: Job) -> (Job, Settlement.Outcome, Settlement.HostNews) {
        (job, QueueFixture.fetched(job.url), .answered)
    }

    private func silent(_ job: Job, _ errorClass: String = "connect") -> (Job, Settlement.Outcome, Settlement.HostNews) {
        var failure = OutcomeContent(url: job.url)
        failure.fields = [.errorClass: errorClass, .errorMessage: "Nobody answered \(job.url)."]
        return (job, .retry(failure, after: .seconds(5)), .silent)
    }

    @Test func `a host gets one request, and twice as many after each answer, up to its limit`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<200)
            var jobs = try await claim(fixture)
            #expect(jobs.count == 1)
            jobs += try await claim(fixture, [answered(jobs.removeFirst())])
            #expect(jobs.count == 2)
            jobs += try await claim(fixture, [answered(jobs.removeFirst())])
            #expect(jobs.count == 4)
            let first = jobs.removeFirst()
            jobs += try await claim(fixture, [answered(first), answered(jobs.removeFirst())])
            #expect(jobs.count == 8)
            jobs += try await claim(fixture, jobs.map(answered))
            #expect(jobs.count == 16)
            #expect(try await fixture.running() == ["h0": 8])
        }
    }

    @Test(arguments: [("connect", true), ("timeout", true), ("http-500", false)])
    func `a request without an answer takes a host back to one place, and a 500 is an answer`(
        errorClass: String, isSilent: Bool
    )
        async throws
    {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<200)
            var jobs = try await claim(fixture)
            for _ in 0..<3 { jobs += try await claim(fixture, [answered(jobs.removeFirst())]) }
            #expect(jobs.count == 8)
            var end = silent(jobs.removeFirst(), errorClass)
            if !isSilent { end.2 = .answered }
            #expect(try await claim(fixture, [end]).count == (isSilent ? 0 : 1))
            if isSilent {
                #expect(try await claim(fixture, jobs.dropFirst().map { ($0, QueueFixture.fetched($0.url), .none) }).isEmpty)
                #expect(try await claim(fixture, [(jobs[0], QueueFixture.fetched(jobs[0].url), .none)]).count == 1)
            }
        }
    }

    @Test func `a host that asked for a rest begins with one request after it`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<200)
            var jobs = try await claim(fixture)
            for _ in 0..<3 { jobs += try await claim(fixture, [answered(jobs.removeFirst())]) }
            let busy = jobs.removeFirst()
            #expect(try await claim(fixture, [(busy, QueueFixture.throttled(busy.url, for: .seconds(2)), .answered)]).isEmpty)
            #expect(try await claim(fixture, jobs.map(answered)).isEmpty)
            clock.advance(by: .seconds(2))
            let probe = try await claim(fixture)
            #expect(probe.count == 1)
            #expect(try await claim(fixture, probe.map(answered)).count == 2)
        }
    }

    @Test func `a host without requests keeps nothing in Redis but a bit`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2, hosts: 2)
            let jobs = try await claim(fixture)
            #expect(try await fixture.hostNames().sorted() == ["h0", "h1"])
            #expect(try await claim(fixture, jobs.map(answered)).isEmpty)
            #expect(try await fixture.hostNames().isEmpty)
            let keys = try await fixture.looks().flatMap(\.keys).filter { $0.hasPrefix("answered:") }
            #expect(keys.count == 1)
        }
    }

    @Test func `a host that never answered is given up after three probes, and its jobs get the reason of the last`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<20)
            var probes: [Job] = []
            for number in 1...3 {
                // Another worker of the fleet goes on where this one stopped.
                let jobs = try await claim(fixture, worker: "w\(number)")
                try #require(jobs.count == 1 && !jobs[0].isHopeless)
                probes += jobs
                let others = try await claim(fixture, [silent(jobs[0], number == 3 ? "timeout" : "connect")], worker: "w\(number)")
                guard number == 3 else {
                    #expect(others.isEmpty)
                    #expect(try await fixture.host("h0")?.isGivenUp == false)
                    let waits = try await fixture.queue.overview().waits
                    #expect(waits.silent.map(\.name) == ["h0"] && waits.silent.map(\.failures) == [number])
                    #expect(waits.silent.first?.errorClass == "connect" && waits.silent.first?.rest ?? .zero > .zero)
                    clock.advance(by: .seconds(number))
                    continue
                }
                #expect(others.count == 18 && others.allSatisfy(\.isHopeless))
                #expect(others.allSatisfy { $0.hostFailure?.fields[.errorClass] == "timeout" && $0.hostFailure?.url == probes[2].url })
                #expect(try await fixture.host("h0")?.isGivenUp == true)
            }
            #expect(Set(probes.map(\.id)).count == 3)
            try await fixture.expectSound()
        }
    }

    @Test func `a host that answered within the hour has the long patience`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<20)
            let first = try await claim(fixture)
            var jobs = try await claim(fixture, first.map(answered))
            #expect(jobs.count == 2)
            clock.advance(by: .seconds(3000))
            var failures = 0
            while failures < 6 {
                failures += jobs.count
                jobs = try await claim(fixture, jobs.map { silent($0) })
                #expect(try await fixture.host("h0")?.isGivenUp == false)
                if jobs.isEmpty { clock.advance(by: .seconds(10)) }
                jobs += try await claim(fixture)
            }
            clock.advance(by: .seconds(900))
            jobs += try await claim(fixture)
            _ = try await claim(fixture, jobs.map { silent($0) })
            #expect(try await fixture.host("h0")?.isGivenUp == true)
        }
    }

    @Test(arguments: [HostPatience.endless, HostPatience(.seconds(600))])
    func `a patience that was asked for holds for hosts that never answered too`(patience: HostPatience) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<30)
            for _ in 0..<5 {
                let jobs = try await claim(fixture)
                #expect(jobs.count == 1)
                _ = try await claim(fixture, jobs.map { silent($0) }, patience: patience)
                #expect(try await fixture.host("h0")?.isGivenUp == false)
                clock.advance(by: .seconds(60))
            }
            clock.advance(by: .seconds(600))
            _ = try await claim(fixture, try await claim(fixture).map { silent($0) }, patience: patience)
            #expect(try await fixture.host("h0")?.isGivenUp == (patience.time > .zero))
        }
    }
}
#endif
