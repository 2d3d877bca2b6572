import Crawl
import GannetBase
import GannetQueue
import Lists
import Server

/// `gannet demo`: three workers and a small site, without a network. One worker is killed on the way, and the counts at the end show that nothing
/// was lost.
struct Demo: Sendable {
    static let spec = CommandSpec(
        "demo", summary: "Watch three workers fetch a small site on this machine; one of them is killed on the way.",
        flags: CommonFlags.everywhere,
        examples: ["gannet demo": "Takes some seconds, and needs no network."]
    ) { arguments in
        let console = Console(try LogOptions(arguments))
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("gannet-demo-\(UInt32.random(in: .min ... .max))").path
        guard mkdir(home, 0o700) == 0 else {
            throw CommandFailure(.cannotWrite, "The folder \(home) cannot be made: \(Descriptor.message(errno)).")
        }
        defer { try? FileManager.default.removeItem(atPath: home) }
        let interruption = try Interruption()
        return try await interruption.watching {
            let outcome = await interruption.cancelling { try await Demo(console: console).run(home: home) }
            return try outcome.get(unlessInterrupted: interruption) ?? interruption.status
        }
    }

    let console: Console
    private let start = ContinuousClock.now

    private static let queue = "default"
    private static let producers = 3
    private static let workers = 3
    private static let jobs = producers * DemoSite.pages
    private static let look = Duration.milliseconds(150)
    private static let pauseBetweenLines = Duration.seconds(2)
    private static let barWidth = 30
    /// The demonstration is a matter of seconds; where nothing goes on any more, it says so instead of hanging.
    private static let longest = Duration.seconds(180)

    /// Throws ``CommandFailure`` or ``StateError``, or that it was cancelled.
    private func run(home: String) async throws -> ExitStatus {
        let site = DemoSite()
        let service = try site.serve()
        defer { service.stop() }
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
            console.note("up: a private Redis, a site of \(DemoSite.pages) pages here, \(Self.workers) workers; no network.")
            let queue = cluster.queue(Self.queue)
            for number in 1...Self.producers {
                var producer = try await Producer(queue, batch: "producer \(number)", from: "")
                for url in DemoSite.urls(port: service.port) { try await producer.add(Row(.argument(1), url: url)) }
                try await producer.finish()
            }
            outcome = .success(try await show(site, queue, workers))
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

    private func show(_ site: DemoSite, _ queue: FetchQueue, _ workers: [DemoWorker]) async throws -> ExitStatus {
        console.note("\(Self.producers) producers enqueued all \(DemoSite.pages) pages each; each is to be asked for once.")
        let terminal = console.terminal
        // After this time one of them was killed.
        var killed: Duration?
        var saidAt = ContinuousClock.now
        while true {
            let status = try await queue.counts()
            let ended = status.done + status.failed
            if killed == nil, site.account.requests >= DemoSite.pages / 3 {
                workers[1].kill()
                await workers[1].waitUntilEnded()
                killed = ContinuousClock.now - start
                console.note("\(workers[1].name) was killed with -9; its leases end in \(Amounts.time(DemoWorker.lease)).")
            }
            let account = site.account
            let again =
                account.askedAgain == 0 ? "no page twice" : "\(Amounts.count(account.askedAgain, "page")) twice: the killed worker's"
            let asked = "\(account.requests) requests, \(again)"
            if let terminal {
                var lines = Self.lines(status, terminal.style)
                for (number, worker) in workers.enumerated() {
                    let line = StyledText("\(worker.name)  ", .bold) + StyledText("\(worker.fetchedPages) pages fetched")
                    let end = number == 1 ? killed.map { StyledText("  killed with -9 after \(Amounts.time($0))", .red) } : nil
                    lines.append(end.map { line + $0 } ?? line)
                }
                console.live.show(lines + [StyledText("site      ", .bold) + StyledText(asked)], on: terminal)
            } else if ContinuousClock.now - saidAt >= Self.pauseBetweenLines {
                saidAt = .now
                console.note("\(ended) of \(Self.jobs) jobs have ended; the site has had \(asked).")
            }
            if ended >= Self.jobs { break }
            guard ContinuousClock.now - start < Self.longest else {
                throw CommandFailure(
                    .defect, "After three minutes \(Self.jobs - ended) jobs have not ended. This is a defect of gannet; please report it.")
            }
            try await Task.sleep(for: Self.look)
        }
        console.live.end()
        for worker in workers { worker.stop() }
        for worker in workers { await worker.waitUntilEnded() }
        return try tellEnd(try await queue.counts(), site.account)
    }

    /// The state of the queue on a terminal.
    private static func lines(_ status: QueueCounts, _ style: TerminalStyle) -> [StyledText] {
        let ended = status.done + status.failed
        let filled = min(barWidth, ended * barWidth / jobs)
        let bar = String(repeating: style.filled, count: filled) + String(repeating: style.empty, count: barWidth - filled)
        return [
            StyledText("queue     ", .bold) + StyledText(bar, .green) + StyledText("  \(ended) of \(jobs) jobs"),
            StyledText(
                "          \(status.ready) ready, \(status.active) active, \(status.parked) parked behind a fetch, \(status.delayed) to be retried"
            ),
        ]
    }

    /// Prints the counts of the site and of the queue, and answers whether they are as promised. Nothing is lost, and each page is asked for once.
    /// Only the pages that the killed worker had in its hands are asked for again.
    private func tellEnd(_ status: QueueCounts, _ site: DemoSite.Account) throws -> ExitStatus {
        let isAsPromised =
            status.fetched == DemoSite.pages - DemoSite.missingPages && status.done + status.failed == Self.jobs
            && site.askedAgain <= DemoWorker.concurrency && status.crashed <= DemoWorker.concurrency
        try console.print(
            prose: [
                "All \(Self.jobs) jobs have ended in \(Amounts.time(ContinuousClock.now - start)).",
                "  \(status.fetched) pages fetched; \(status.cached) jobs whose page was there already",
                "  \(status.failed) jobs failed: \(Amounts.count(DemoSite.missingPages, "page")) that the site does not have",
                "The site was asked \(site.requests) times for \(DemoSite.pages) pages.",
                "  \(DemoSite.failingPages) failed at first and were tried again",
                "  \(site.askedAgain) were in the hands of the killed worker, and were asked for again",
                "  every other one was asked for once",
                isAsPromised ? "Nothing was lost." : "This is not what was promised: a defect of gannet; please report it.",
            ].joined(separator: "\n"))
        return isAsPromised ? .done : .defect
    }
}
