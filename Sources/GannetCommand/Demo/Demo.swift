import Crawl
import GannetBase
import GannetQueue
import Lists

/// `gannet demo`: three workers and a small site. One worker is killed on the way, and the counts at the end show that nothing was lost.
struct Demo: Sendable {
    private let console: Console
    private let start = ContinuousClock.now

    private static let queue = "default"
    private static let producers = 3
    private static let workers = 3
    private static let look = Duration.milliseconds(150)
    private static let pauseBetweenLines = Duration.seconds(2)
    /// The demonstration is a matter of seconds; where nothing goes on any more, it says so instead of hanging.
    private static let longest = Duration.seconds(180)

    init(_ console: Console) { self.console = console }

    /// Throws ``CommandFailure`` or ``StateError``, or that it was cancelled.
    func run(home: String) async throws -> ExitStatus {
        let site = try DemoSite()
        defer { site.stop() }
        let environment = PrivateRedisEnvironment.demonstration(home: home)
        let redis = try await PrivateRedis.use(environment, console: Console(.quiet))
        defer { withExtendedLifetime(redis) {} }
        var workers: [DemoWorker] = []
        let outcome: Result<ExitStatus, any Error>
        do {
            let cluster = try await ClusterState.connect(ClusterOptions(redis: redis.address))
            for number in 1...Self.workers {
                workers.append(try DemoWorker("worker \(number)", redis: redis.address, home: home))
            }
            say("up: a private Redis, a site of \(DemoSite.pages) pages here, \(Self.workers) workers; no network.")
            outcome = .success(try await show(site, cluster, workers))
            await cluster.close()
        } catch {
            outcome = .failure(error)
        }
        console.live.end()
        for worker in workers { worker.kill() }
        for worker in workers { await worker.waitUntilEnded() }
        // An interrupted task would not wait for it, and the server would write into a folder that is being removed.
        _ = await Task { try? await PrivateRedis.stop(environment) { _ in true } }.value
        return try outcome.get()
    }

    private func show(_ site: DemoSite, _ cluster: ClusterState, _ workers: [DemoWorker]) async throws -> ExitStatus {
        let queue = cluster.queue(Self.queue)
        for number in 1...Self.producers {
            var producer = try await Producer(queue, batch: "producer \(number)", from: "")
            for url in site.urls { try await producer.add(Row(.argument(1), url: url)) }
            try await producer.finish()
        }
        let jobs = Self.producers * DemoSite.pages
        say("\(Self.producers) producers enqueued all \(DemoSite.pages) pages each; each is to be asked for once.")
        let terminal = console.terminal
        var screen = DemoScreen(workers: workers.map(\.name), jobs: jobs)
        var saidAt = ContinuousClock.now
        while true {
            let status = try await queue.counts()
            let ended = status.done + status.failed
            if screen.killed == nil, site.account.requests >= DemoSite.pages / 3 {
                workers[1].kill()
                await workers[1].waitUntilEnded()
                screen.killed = (1, ContinuousClock.now - start)
                say("\(workers[1].name) was killed with -9; its leases end in \(Amounts.time(DemoWorker.lease)).")
            }
            screen.status = status
            screen.fetched = workers.map(\.fetchedPages)
            screen.site = site.account
            if let terminal {
                console.live.show(screen.lines(terminal.style), on: terminal)
            } else if ContinuousClock.now - saidAt >= Self.pauseBetweenLines {
                saidAt = .now
                say(screen.sentence)
            }
            if ended >= jobs { break }
            guard ContinuousClock.now - start < Self.longest else {
                throw CommandFailure(
                    .defect, "After three minutes \(jobs - ended) jobs have not ended. This is a defect of gannet; please report it.")
            }
            try await Task.sleep(for: Self.look)
        }
        console.live.end()
        for worker in workers { worker.stop() }
        for worker in workers { await worker.waitUntilEnded() }
        let ending = DemoEnding(
            status: try await queue.counts(), site: site.account, jobs: jobs, time: ContinuousClock.now - start)
        try console.print(prose: ending.text)
        return ending.isAsPromised ? .done : .defect
    }

    private func say(_ sentence: String) { console.note(sentence) }
}
