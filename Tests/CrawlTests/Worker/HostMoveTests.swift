import GannetHTTP
import GannetQueue
import GannetRedis
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl

/// A redirect to another host needs a place there, as a request to that host would.
@Suite(.timeLimit(.minutes(1))) struct HostMoveTests {
    private func cluster(_ fixture: WorkerFixture) -> ClusterState { ClusterState(fixture.redis, namespace: fixture.namespace) }

    @Test func `of ten requests that are redirected to a host with two places, two are there at a time`() async throws {
        try await WorkerFixture.with { fixture in
            try await cluster(fixture).set(OperatorRule("elsewhere", limit: 2))
            try await fixture.fill(0..<10)
            let downloader = ScriptedDownloader { _ in .led(to: "elsewhere", .held) }
            let worker = try await fixture.start(downloader)
            await downloader.waitForArrivals(2)
            // All ten URLs were requested at their own host, and eight requests wait.
            await downloader.waitForStarts(10)
            #expect(downloader.mostArrived == 2)
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isFetched) == 10)
            #expect(downloader.mostArrived == 2)
        }
    }

    @Test func `a 503 at a redirect's host cools that host and not the job's own, and the job is put off`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<2)
            let downloader = ScriptedDownloader { $0 == WorkerFixture.url(0) ? .led(to: "elsewhere", .failure(.status(503))) : .held }
            let worker = try await fixture.start(downloader) { $0.retryPolicy.shortestCoolDown = .seconds(1) }
            await worker.wait(for: \.isPutOff)
            // Only the other host rests. The job's own host has answered.
            let there = try await cluster(fixture).explain(WorkerFixture.id(0), host: "elsewhere")
            #expect(there.standing.restsUntil > there.now && there.standing.isProbing)
            let here = try await cluster(fixture).explain(WorkerFixture.id(0), host: "h")
            #expect(here.standing.restsUntil <= here.now && !here.standing.isProbing)
            worker.stop()
            downloader.open()
            #expect(await worker.end.end == .drained)
            #expect(try await fixture.queue.counts().delayed == 1)
        }
    }

    @Test func `a redirected request waits no longer than its bound, and is then put off`() {
        var patience = PlacePatience(throttled: .zero)
        var waited = Duration.zero
        var steps = 0
        while steps < 200, case .wait(let pause) = patience.next(opensIn: nil, random: 0.5) {
            #expect(pause > .zero && pause <= .milliseconds(100))
            waited += pause
            steps += 1
        }
        #expect(waited == PlacePatience.ofJob)
        #expect(steps < 200)
        var other = PlacePatience(throttled: .seconds(2))
        #expect(other.next(opensIn: .seconds(60), random: 0) == .giveUp(.seconds(61)))
        #expect(other.next(opensIn: .seconds(2), random: 0) == .wait(.seconds(2)))
        #expect(other.next(opensIn: nil, mayWait: false, random: 0) == .giveUp(.seconds(1)))
    }

    @Test func `a job comes back the later, the longer it has been put off`() {
        for (throttled, pause) in [(4, 1), (40, 10), (1000, 60)] {
            var patience = PlacePatience(throttled: .seconds(throttled))
            #expect(patience.next(opensIn: nil, mayWait: false, random: 0) == .giveUp(.seconds(pause)))
        }
    }

    @Test func `a fourth of a worker's requests may wait for redirects' hosts`() {
        let waits = HopWaits(places: 8)
        #expect((0..<3).map { _ in waits.enter() } == [true, true, false])
        waits.leave()
        #expect(waits.enter())
        #expect(HopWaits(places: 1).enter())
    }
}
