import GannetTestKit
import Testing

@testable import GannetQueue

/// A host has one place until it answers. Each answer doubles its places, and a request without an answer takes them back.
@Suite struct EarnedPlacesTests {
    /// Asks for so many jobs, and says that these were fetched.
    private func claim(_ fixture: QueueFixture, _ wanted: Int, afterFetching ends: [Job], limit: Int) async throws -> [Job] {
        try await fixture.claim(wanted) {
            $0.settlements = ends.map { Settlement($0.token, $0.id, QueueFixture.fetched($0.url), host: .answered) }
            $0.host = HostRule(limit: limit)
        }.jobs
    }

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

    @Test func `a robots.txt that a host has answered counts as an answer, and the job keeps its place`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<40)
            let first = try await claim(fixture)[0]
            var jobs = try await claim(fixture, [(first, .hostAnswered, .answered)])
            #expect(jobs.count == 1)
            #expect(try await fixture.running() == ["h0": 2])
            jobs += try await claim(fixture, [answered(first)])
            #expect(jobs.count == 4)
            // The news and the end may travel together.
            let next = jobs.removeFirst()
            jobs += try await claim(fixture, [(next, .hostAnswered, .answered), answered(next)])
            #expect(jobs.count == 8)
            // It is no longer the job's to say.
            let late = try await fixture.claim(0) { $0.settlements = [Settlement(first.token, first.id, .hostAnswered, host: .answered)] }
            #expect(late.verdicts == [.lost])
            #expect(try await fixture.running() == ["h0": 8])
            try await fixture.expectSound()
        }
    }

    @Test func `a place that a request leaves goes to the same host, also where the worker only fills its stock`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<200)
            var jobs = try await claim(fixture)
            for _ in 0..<3 { jobs += try await claim(fixture, [answered(jobs.removeFirst())]) }
            #expect(jobs.count == 8)
            let ends = jobs.prefix(2).map { Settlement($0.token, $0.id, QueueFixture.fetched($0.url), host: .answered) }
            let stock = try await fixture.claim(0) {
                ($0.settlements, $0.spare, $0.host) = (Array(ends), 20, HostRule(limit: 8))
            }
            #expect(stock.jobs.count == 2)
        }
    }

    @Test func `hosts with one free place cost nothing where the worker only fills its stock`() async throws {
        try await QueueFixture.withServer { fixture, server in
            // 100 hosts have a request in flight, and jobs that stand aside.
            try await fixture.fill(0..<1000, hosts: 100)
            func exchange(_ wanted: Int, spare: Int, _ ends: ArraySlice<Job> = []) async throws -> [Job] {
                try await fixture.claim(wanted) {
                    $0.settlements = ends.map { Settlement($0.token, $0.id, QueueFixture.fetched($0.url), host: .answered) }
                    ($0.spare, $0.host) = (spare, HostRule(limit: 1))
                }.jobs
            }
            let jobs = try await exchange(200, spare: 0)
            #expect(Set(jobs.map(\.host)).count == 100 && jobs.count == 100)
            // The requests of 90 of them end.
            #expect(try await exchange(0, spare: 0, jobs.prefix(90)).isEmpty)
            #expect(try await exchange(1, spare: 8).count == 1)
            var found: [Job] = []
            let work = try await server.statistics {
                found = try await exchange(1, spare: 8)
            }
            #expect(found.count == 1)
            let calls = work.commands.values.reduce(0) { $0 + $1.calls }
            #expect(calls < 80, "\(work.commands.mapValues(\.calls))")
            // They are as due as before.
            var others: [Job] = []
            while true {
                let more = try await exchange(20, spare: 0)
                others += more
                if more.isEmpty { break }
            }
            #expect(Set(others.map(\.host)).count == 88 && others.count == 88)
            try await fixture.expectSound()
        }
    }

    @Test func `of hosts whose requests have ended the one with the longest list goes on first`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            // 400 URLs of the host h0, and eight of each of the others.
            let entries = try (0..<1200).filter { $0 % 3 == 0 || $0 < 24 }.map { try QueueFixture.entry($0, hosts: 3) }
            try await fixture.accept(entries)
            func claim(_ wanted: Int, _ ends: [Job] = []) async throws -> [Job] {
                try await self.claim(fixture, wanted, afterFetching: ends, limit: 8)
            }
            func byHost(_ jobs: [Job]) -> [String: Int] { Dictionary(jobs.map { ($0.host, 1) }, uniquingKeysWith: +) }
            let first = try await claim(10)
            #expect(byHost(first) == ["h0": 1, "h1": 1, "h2": 1])
            // Each has two places now. All answers take as long.
            clock.advance(by: .milliseconds(100))
            let second = try await claim(4, first)
            #expect(byHost(second) == ["h0": 2, "h1": 2])
            clock.advance(by: .milliseconds(100))
            #expect(byHost(try await claim(2, second)) == ["h0": 2])
        }
    }

    @Test(arguments: [0, 1])
    func `the host with the longest list goes on first, also where most of its first block has gone`(wantedBefore: Int) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            // 240 URLs of the host h1, and 60 of h0.
            try await fixture.accept((0..<480).filter { $0 % 2 == 1 || $0 < 120 }.map { try QueueFixture.entry($0, hosts: 2) })
            func claim(_ wanted: Int, _ ends: [Job] = []) async throws -> [Job] {
                try await self.claim(fixture, wanted, afterFetching: ends, limit: 1)
            }
            let jobs = try await claim(10)
            #expect(Set(jobs.map(\.host)) == ["h0", "h1"] && jobs.count == 2)
            var large = jobs.filter { $0.host == "h1" }
            for _ in 0..<61 { large = try await claim(1, large) }
            #expect(large.map(\.host) == ["h1"])
            clock.advance(by: .milliseconds(100))
            // A call that wants nothing finds the places free, and the next one takes one.
            let next = try await claim(wantedBefore, large + jobs.filter { $0.host == "h0" })
            #expect((wantedBefore > 0 ? next : try await claim(1)).map(\.host) == ["h1"])
        }
    }

    @Test func `a host with few jobs goes before one with many, where its answers take longer`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            // 40 URLs of the host h0, and eight of h1.
            try await fixture.accept((0..<80).filter { $0 % 2 == 0 || $0 < 16 }.map { try QueueFixture.entry($0, hosts: 2) })
            func claim(_ wanted: Int, _ ends: [Job] = []) async throws -> [Job] {
                try await self.claim(fixture, wanted, afterFetching: ends, limit: 1)
            }
            let jobs = try await claim(10)
            #expect(Set(jobs.map(\.host)) == ["h0", "h1"] && jobs.count == 2)
            clock.advance(by: .milliseconds(100))
            #expect(try await claim(0, jobs.filter { $0.host == "h0" }).isEmpty)
            clock.advance(by: .seconds(4))
            let next = try await claim(1, jobs.filter { $0.host == "h1" })
            #expect(next.map(\.host) == ["h1"])
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
                let jobs = try await claim(fixture, patience: patience)
                #expect(jobs.count == 1)
                _ = try await claim(fixture, jobs.map { silent($0) }, patience: patience)
                #expect(try await fixture.host("h0")?.isGivenUp == false)
                clock.advance(by: .seconds(60))
            }
            clock.advance(by: .seconds(600))
            _ = try await claim(fixture, try await claim(fixture, patience: patience).map { silent($0) }, patience: patience)
            #expect(try await fixture.host("h0")?.isGivenUp == (patience.time > .zero))
        }
    }
}
