import GannetHTTP
import GannetQueue
import GannetRedis
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl

/// A redirect to another host needs a place there, as a request to that host would.
@Suite(.timeLimit(.minutes(3))) struct HostMoveTests {
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

    /// A machine with a job, whose request has been led to a host of the other partition.
    private func moved() -> (bench: MachineBench, job: Job, elsewhere: Int) {
        var bench = MachineBench(partitions: 2) { $0.concurrency = 1 }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        let elsewhere = 1 - job.partition
        bench.take(.asksForPlace(job.token, job.id, partition: elsewhere))
        bench.take(.moved(job.token, job.id, partition: elsewhere, .there))
        return (bench, job, elsewhere)
    }

    /// The machine's holdings with a job's lease in a partition, and how many settlements wait there.
    private struct Look: Equatable {
        let held: Set<Holding>
        let waiting: Int

        init(_ held: Set<Holding>, waiting: Int) { (self.held, self.waiting) = (held, waiting) }

        init(_ bench: MachineBench, _ job: Job, _ partition: Int) {
            let lane = bench.machine.lanes.first { $0.id == Lane.ID(partition: partition, incarnation: job.token.incarnation) }
            self.init(Set(lane?.session.holdings.all ?? []), waiting: lane?.outgoingCount ?? 0)
        }
    }

    @Test func `a place in another partition is left when its job ends`() {
        var (bench, job, elsewhere) = moved()
        #expect(Look(bench, job, elsewhere) == Look([.place(job.id)], waiting: 0))
        #expect(Look(bench, job, job.partition) == Look([.lock(job.id)], waiting: 0))
        let ended = bench.conclude(job)
        #expect(Look(bench, job, elsewhere).waiting == 1 && bench.machine.elsewhere.isEmpty)
        let sent = (ended.requests + bench.wake(after: Lane.waitForCompany).requests).flatMap(\.settlements)
        #expect(sent.map(\.token) == [job.token, job.token])
        #expect(sent.count { if case .leftPlace = $0.outcome { true } else { false } } == 1)
    }

    @Test func `a request that goes on to a third partition leaves its place in the second`() {
        var bench = MachineBench(partitions: 3) { $0.concurrency = 1 }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        let others = (0..<3).filter { $0 != job.partition }
        for partition in others {
            bench.take(.asksForPlace(job.token, job.id, partition: partition))
            bench.take(.moved(job.token, job.id, partition: partition, .there))
        }
        #expect(Look(bench, job, others[0]).waiting == 1 && Look(bench, job, others[1]) == Look([.place(job.id)], waiting: 0))
        // Back at home, it has a place beside its lock, and none elsewhere.
        bench.take(.asksForPlace(job.token, job.id, partition: job.partition))
        bench.take(.moved(job.token, job.id, partition: job.partition, .there))
        #expect(Look(bench, job, job.partition).held == [.lock(job.id), .place(job.id)])
        #expect(Look(bench, job, others[1]).waiting == 1 && bench.machine.elsewhere.isEmpty)
    }

    @Test func `a full host's answer gives up the places of a request`() {
        var (bench, job, elsewhere) = moved()
        bench.take(.asksForPlace(job.token, job.id, partition: elsewhere))
        bench.take(.moved(job.token, job.id, partition: elsewhere, .full(opensIn: nil)))
        // Redis has given it up in that call.
        #expect(Look(bench, job, elsewhere) == Look([], waiting: 0) && bench.machine.elsewhere.isEmpty)

        (bench, job, elsewhere) = moved()
        bench.take(.asksForPlace(job.token, job.id, partition: job.partition))
        bench.take(.moved(job.token, job.id, partition: job.partition, .full(opensIn: nil)))
        #expect(Look(bench, job, elsewhere).waiting == 1 && bench.machine.elsewhere.isEmpty)
    }

    @Test(arguments: [Passage.lost, .hopeless, nil])
    func `a place that was not given changes no other`(passage: Passage?) {
        var (bench, job, elsewhere) = moved()
        bench.take(.asksForPlace(job.token, job.id, partition: job.partition))
        bench.take(.moved(job.token, job.id, partition: job.partition, passage))
        #expect(Look(bench, job, elsewhere) == Look([.place(job.id)], waiting: 0))
        #expect(Look(bench, job, job.partition) == Look([.lock(job.id)], waiting: 0))
    }

    @Test func `a job whose request was adopted leaves its place, also one that comes late`() {
        var (bench, job, elsewhere) = moved()
        bench.take(.adopted(job.token))
        #expect(Look(bench, job, elsewhere).waiting == 1)
        bench.take(.moved(job.token, job.id, partition: elsewhere, .there))
        #expect(Look(bench, job, elsewhere).waiting == 2 && bench.machine.elsewhere.isEmpty)
    }
}
