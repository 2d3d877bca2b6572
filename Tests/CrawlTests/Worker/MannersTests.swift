import GannetBase
import GannetHTTP
import GannetQueue
import GannetRedis
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import Results

/// Workers whose jobs obey the sites that they fetch from, and jobs that do not.
@Suite(.timeLimit(.minutes(3))) struct MannersTests {
    /// Files of origins, and how often each was asked for.
    private final class Robots: Sendable {
        private let asked = Mutex<[String]>([])
        private let answer: @Sendable (String, _ time: Int) -> Result<String, FetchError>

        init(_ answer: @escaping @Sendable (String, _ time: Int) -> Result<String, FetchError>) { self.answer = answer }

        convenience init(_ text: String) { self.init { _, _ in .success(text) } }

        var places: [String] { asked.withLock { $0 } }

        func sites(pause: Duration = .milliseconds(1)) -> Sites {
            Sites(userAgent: "gannet/1", pause: pause) { [self] place in
                let time = asked.withLock { asked in
                    asked.append(place)
                    return asked.count
                }
                return answer(place, time).map { Sites.File(bytes: Array($0.utf8), freshFor: .seconds(3600)) }
            }
        }
    }

    private static func failure(_ kind: FetchError.Kind) -> FetchError {
        FetchError(kind: kind, url: "http://h/robots.txt", detail: "as scripted")
    }

    private static func classes(_ worker: RunningWorker) -> [String] {
        worker.reports.compactMap { if case .failed(_, _, let errorClass) = $0 { errorClass } else { nil } }
    }

    private static func sentences(_ worker: RunningWorker) -> [String] {
        worker.reports.compactMap { if case .failed(_, let sentence, _) = $0 { sentence } else { nil } }
    }

    @Test func `a URL that is disallowed is not requested, and its job ends with the rule`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<4, manners: .obeying)
            let robots = Robots("User-agent: *\nDisallow: /1\nDisallow: /3\n")
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader, sites: robots.sites())
            #expect(await worker.end.end == .empty)
            #expect(Set(downloader.urls) == [WorkerFixture.url(0), WorkerFixture.url(2)])
            #expect(Self.classes(worker) == ["disallowed", "disallowed"])
            #expect(
                Set(Self.sentences(worker)) == [
                    "The site does not permit the fetch (http://h/1): line 2 of http://h/robots.txt says 'Disallow: /1'.",
                    "The site does not permit the fetch (http://h/3): line 3 of http://h/robots.txt says 'Disallow: /3'.",
                ])
            let batch = try #require(try await fixture.queue.batch(named: "b"))
            #expect(batch.done == 2 && batch.failed == 2 && batch.disallowed == 2 && batch.options.manners == .obeying)
            // It is kept in memory.
            #expect(Set(robots.places) == ["http://h/robots.txt"])
        }
    }

    @Test func `jobs that are disallowed earn their host no places`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(10..<20, batch: "disallowed", manners: .obeying)
            try await fixture.fill(2..<10, manners: .obeying)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader, sites: Robots("User-agent: *\nDisallow: /1\n").sites()) { $0.hostFirst = 1 }
            var active = 0
            try await eventually("the first ten end, and another one is handed out") {
                let counts = try await fixture.queue.counts()
                active = counts.active
                return counts.failed == 10 && active > 0
            }
            // Nobody has answered. One call hands out as many as the host may have.
            #expect(active == 1)
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 8)
        }
    }

    @Test func `a batch that obeys nobody asks for no robots.txt`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<3)
            let robots = Robots("User-agent: *\nDisallow: /\n")
            let worker = try await fixture.start(ScriptedDownloader { .body($0) }, sites: robots.sites())
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isFetched) == 3 && robots.places.isEmpty)
        }
    }

    @Test func `a redirect to a URL that is disallowed is not followed`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<2, manners: .obeying)
            let robots = Robots { place, _ in .success(place == "http://closed/robots.txt" ? "User-agent: gannet\nDisallow: /" : "") }
            let downloader = ScriptedDownloader { .led(to: $0.hasSuffix("/0") ? "closed" : "open", .body("there")) }
            let worker = try await fixture.start(downloader, sites: robots.sites())
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isFetched) == 1 && Self.classes(worker) == ["disallowed"])
            #expect(
                Self.sentences(worker) == [
                    "The site does not permit the fetch (http://h/0): redirected to http://closed/: line 2 of "
                        + "http://closed/robots.txt says 'Disallow: /'."
                ])
            #expect(downloader.mostArrived == 1)
        }
    }

    @Test func `a request for the rules at a redirect's host is one to that host, which is given up for it`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<20, manners: .obeying)
            let robots = Robots { place, _ in place == "http://silent/robots.txt" ? .failure(Self.failure(.connect)) : .success("") }
            let downloader = ScriptedDownloader { _ in .led(to: "silent", .body("there")) }
            let worker = try await fixture.start(downloader, sites: robots.sites()) {
                $0.hostFirst = 1
                $0.retryPolicy.hostPatience = HostPatience(.seconds(900), probes: 1)
            }
            #expect(await worker.end.end == .empty)
            #expect(Set(Self.classes(worker)) == ["connect"] && Self.classes(worker).count == 20)
            #expect(robots.places.count { $0 == "http://silent/robots.txt" } == 1)
            let cluster = ClusterState(fixture.redis, namespace: fixture.namespace)
            let there = try await cluster.explain(WorkerFixture.id(0), host: "silent")
            #expect(there.standing.restsUntil > there.now)
            let here = try await cluster.explain(WorkerFixture.id(0), host: "h")
            #expect(here.standing.restsUntil <= here.now && !here.standing.isProbing)
        }
    }

    @Test(arguments: [FetchError.Kind.status(500), .status(503), .connect, .timeout(.response)])
    func `jobs are tried again when their robots.txt could not be had, and go on when it can`(kind: FetchError.Kind) async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<3, manners: .obeying)
            let robots = Robots { _, time in time <= 1 ? .failure(Self.failure(kind)) : .success("User-agent: *\nDisallow: /2\n") }
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader, sites: robots.sites()) { $0.hostFirst = 1 }
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isPutOff) >= 1)
            #expect(worker.count(where: \.isFetched) == 2 && Self.classes(worker) == ["disallowed"])
            #expect(Set(downloader.urls) == [WorkerFixture.url(0), WorkerFixture.url(1)])
        }
    }

    @Test func `jobs end with the failure of their robots.txt after as many attempts as others`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<2, manners: .obeying)
            let robots = Robots { _, _ in .failure(Self.failure(.status(500))) }
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader, sites: robots.sites()) { $0.retryPolicy.retries = 2 }
            #expect(await worker.end.end == .empty)
            #expect(Self.classes(worker) == ["http-500", "http-500"] && downloader.urls.isEmpty)
            #expect(worker.count(where: \.isPutOff) == 4)
            let sentence = Self.sentences(worker).first ?? ""
            #expect(sentence.hasPrefix("The server answered 500 ("), "\(sentence)")
            #expect(sentence.contains("; the robots.txt of the site could not be read, so http://h/"), "\(sentence)")
        }
    }

    @Test func `a host whose robots.txt nobody answers is given up, and its jobs say so`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<20, manners: .obeying)
            let robots = Robots { _, _ in .failure(Self.failure(.connect)) }
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader, sites: robots.sites()) {
                $0.hostFirst = 1
                $0.retryPolicy.hostPatience = HostPatience(.seconds(900), probes: 1)
            }
            #expect(await worker.end.end == .empty)
            #expect(Set(Self.classes(worker)) == ["connect"] && Self.classes(worker).count == 20)
            #expect(downloader.urls.isEmpty && robots.places.count == 1)
            #expect(Self.sentences(worker).allSatisfy { $0.contains("the robots.txt of the site could not be read") })
            // An export of the batch finds why there is no body.
            let state = ClusterState(fixture.redis, namespace: fixture.namespace)
            for number in 0..<20 {
                let kept = try #require(try await state.outcome(WorkerFixture.id(number), host: "h"))
                #expect(kept.isNegative && kept.content.url == WorkerFixture.url(number) && kept.content.fields[.errorClass] == "connect")
            }
        }
    }

    @Test func `a request for the rules is seen as one to its host, until they are there`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<1, manners: .obeying)
            let activity = WorkerActivity()
            let seen = Mutex<[String]>([])
            let robots = Robots { _, _ in
                seen.withLock { $0 = activity.snapshot.hosts.filter { $0.running == 1 }.map(\.name) }
                return .success("User-agent: *\nDisallow: /\n")
            }
            let worker = try await fixture.start(ScriptedDownloader { .body($0) }, sites: robots.sites(), activity: activity)
            #expect(await worker.end.end == .empty)
            #expect(seen.withLock { $0 } == ["h"])
            #expect(activity.inFlight == 0 && activity.snapshot.hosts.isEmpty)
        }
    }

    @Test func `no second job of a host is handed out before its rules are known`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<40, manners: .obeying)
            let robots = Robots("User-agent: *\nDisallow: /1\n")
            let first = Mutex<Int?>(nil)
            let downloader = ScriptedDownloader { url in
                first.withLock { $0 = $0 ?? robots.places.count }
                return .body(url)
            }
            let worker = try await fixture.start(downloader, sites: robots.sites(pause: .seconds(60))) { $0.hostFirst = 1 }
            #expect(await worker.end.end == .empty)
            #expect(first.withLock { $0 } == 1 && robots.places.count == 1)
        }
    }

    @Test(arguments: [(FetchError.Kind.dns(.noSuchName), "no-such-host"), (.tls, "tls"), (.refusedAddress, "refused")])
    func `a job whose origin cannot be reached at all ends as without robots.txt`(kind: FetchError.Kind, name: String) async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<2, manners: .obeying)
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader, sites: Robots { _, _ in .failure(Self.failure(kind)) }.sites())
            #expect(await worker.end.end == .empty)
            #expect(Self.classes(worker) == [name, name] && downloader.urls.isEmpty)
        }
    }

    @Test func `an answer that reserves its use is not stored where that is heeded`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<3, manners: .obeying)
            let downloader = ScriptedDownloader { url in
                url.hasSuffix("/0")
                    ? .body("free") : .answer("reserved", url.hasSuffix("/1") ? [("X-Robots-Tag", "noai")] : [("TDM-Reservation", "1")])
            }
            let worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isFetched) == 1 && Self.classes(worker) == ["disallowed", "disallowed"])
            #expect(Self.sentences(worker).contains("The site does not permit the fetch (http://h/1): X-Robots-Tag: noai."))
            #expect(try fixture.files().count == 1)
        }
    }

    @Test func `jobs of one URL each keep the manners of their own batch`() async throws {
        try await WorkerFixture.with { fixture in
            let robots = Robots("User-agent: *\nDisallow: /1\n")
            let downloader = ScriptedDownloader { _ in .answer("body", [("X-Robots-Tag", "noindex"), ("Cache-Control", "max-age=3600")]) }
            // The first batch's outcome is there when the jobs of the others come, and its failure while theirs wait.
            try await fixture.fill(1..<3, batch: "obeys", manners: .obeying)
            try await fixture.fill(1..<3, batch: "ignores")
            try await fixture.fill(1..<3, batch: "heeds", manners: Manners(robots: .ignore, optOuts: .heed))
            let worker = try await fixture.start(downloader, sites: robots.sites())
            #expect(await worker.end.end == .empty)
            for (name, done, disallowed) in [("obeys", 0, 2), ("ignores", 2, 0), ("heeds", 0, 2)] {
                let batch = try #require(try await fixture.queue.batch(named: name))
                #expect(batch.done == done && batch.disallowed == disallowed && batch.failed == disallowed, "\(name): \(batch)")
            }
        }
    }

    @Test func `a body that a job without manners has fetched is for jobs that may have it`() async throws {
        try await WorkerFixture.with { fixture in
            let robots = Robots { place, _ in place.hasPrefix("http://h/") ? .success("User-agent: *\nDisallow: /1\n") : .success("") }
            let downloader = ScriptedDownloader { _ in .answer("body", [("Cache-Control", "max-age=3600")]) }
            try await fixture.fill(0..<3, batch: "ignores")
            #expect(await (try await fixture.start(downloader, sites: robots.sites())).end.end == .empty)
            try await fixture.fill(0..<3, batch: "obeys", manners: .obeying)
            try await fixture.fill(0..<3, batch: "records", manners: Manners(robots: .obey, optOuts: .record))
            let worker = try await fixture.start(downloader, sites: robots.sites())
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 3 && Self.classes(worker) == ["disallowed", "disallowed"])
            for (name, done, disallowed) in [("ignores", 3, 0), ("obeys", 2, 1), ("records", 2, 1)] {
                let batch = try #require(try await fixture.queue.batch(named: name))
                #expect(batch.done == done && batch.disallowed == disallowed, "\(name): \(batch)")
                let ended = try await fixture.queue.finished(ofBatch: batch.number, in: fixture.queue.cluster.home, from: 0, through: 9)
                #expect(ended.filter(\.isDisallowed).map(\.id) == (disallowed > 0 ? [WorkerFixture.id(1)] : []), "\(name)")
            }
            // The outcome stays what it was.
            #expect(try await fixture.queue.outcomes([WorkerFixture.id(1)], in: fixture.queue.cluster.home).first??.isNegative == false)
        }
    }

    @Test func `rules that cannot be had keep no body back that is there`() async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader { _ in .answer("body", [("Cache-Control", "max-age=3600")]) }
            try await fixture.fill(0..<2, batch: "ignores")
            #expect(await (try await fixture.start(downloader)).end.end == .empty)
            try await fixture.fill(0..<2, batch: "obeys", manners: .obeying)
            let worker = try await fixture.start(downloader, sites: Robots { _, _ in .failure(Self.failure(.status(500))) }.sites())
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 2 && Self.classes(worker) == [])
        }
    }
}
