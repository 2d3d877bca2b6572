import GannetHTTP
import GannetQueue
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl

/// The reasons that a worker knows for the pace of a host.
@Suite(.timeLimit(.minutes(3))) struct PacesTests {
    private static func pace(_ fixture: WorkerFixture) async throws -> HostPace {
        try await fixture.queue.cluster.explain(WorkerFixture.id(0), host: "h").standing.pace
    }

    private static let second = Duration.seconds(1)

    @Test func `the first of the jobs that were handed out before may start, and the others go back`() async throws {
        try await WorkerFixture.with { fixture in
            let paces = Paces(fixture.queue, adapts: false)
            let origin = try CanonicalURL("http://h/")
            let now = try await fixture.queue.cluster.now()
            #expect(try await paces.permits(Self.second, of: origin, claimed: now))
            #expect(try await !paces.permits(Self.second, of: origin, claimed: now))
            #expect(try await Self.pace(fixture).interval == Self.second)
            // Redis has handed out this one by the pace.
            #expect(try await paces.permits(Self.second, of: origin, claimed: now + 60_000))
            // Nor does a request ask that takes its place later.
            #expect(try await paces.permits(Self.second, of: origin, claimed: nil))
        }
    }

    @Test func `the slowest origin of a host counts, and an origin that asks no more counts no more`() async throws {
        try await WorkerFixture.with { fixture in
            let paces = Paces(fixture.queue, adapts: false)
            let (one, two) = (try CanonicalURL("http://h/"), try CanonicalURL("https://h/"))
            #expect(try await paces.permits(.seconds(4), of: one, claimed: nil))
            #expect(try await paces.permits(Self.second, of: two, claimed: nil))
            #expect(try await Self.pace(fixture) == HostPace(atLeast: .seconds(4)))
            #expect(try await paces.permits(nil, of: one, claimed: nil))
            #expect(try await Self.pace(fixture) == HostPace(atLeast: Self.second))
            #expect(try await paces.permits(nil, of: two, claimed: nil))
            #expect(try await Self.pace(fixture) == .none)
        }
    }

    @Test func `a worker that adapts slows down as answers slow down, and others do not`() async throws {
        try await WorkerFixture.with { fixture in
            let origin = try CanonicalURL("http://h/")
            let (still, adapting) = (Paces(fixture.queue, adapts: false), Paces(fixture.queue, adapts: true))
            still.answered("h", after: .seconds(10))
            #expect(try await still.permits(nil, of: origin, claimed: nil))
            #expect(try await Self.pace(fixture) == .none)
            adapting.answered("h", after: .milliseconds(500))
            #expect(try await adapting.permits(nil, of: origin, claimed: nil))
            #expect(try await Self.pace(fixture) == HostPace(atLeast: .milliseconds(500)))
            for _ in 0..<50 { adapting.answered("h", after: .seconds(4)) }
            #expect(try await adapting.permits(nil, of: origin, claimed: nil))
            #expect(try await Self.pace(fixture).interval > .seconds(3))
        }
    }

    @Test func `a crawl delay holds for the jobs of a host`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<4, manners: .obeying)
            let sites = Sites(userAgent: nil) { _ in
                .success(Sites.File(bytes: Array("User-agent: *\nCrawl-delay: 0.2\n".utf8), freshFor: .seconds(600)))
            }
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader, sites: sites)
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isFetched) == 4 && downloader.urls.count == 4)
            #expect(try await Self.pace(fixture) == HostPace(atLeast: .milliseconds(200)))
        }
    }
}
