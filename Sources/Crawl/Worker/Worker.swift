package import GannetHTTP
package import GannetQueue
internal import GannetRedisClient
package import Results

/// Fetches the URLs of a queue's jobs with bounded concurrency. A worker that is stopped finishes its jobs or hands them back.
package struct Worker: Sendable {
    private let name: String
    private let queue: FetchQueue
    private let downloader: any GatedDownloader
    private let output: any JobOutput
    private let inbox: RedisSubscription?
    private let options: WorkerOptions
    private let activity: WorkerActivity
    private let sites: Sites
    private let report: @Sendable (WorkerReport) -> Void

    /// - Parameters:
    ///   - name: A name that no other worker has.
    ///   - inbox: A subscription to the inboxes of this name. Without one, the worker hears of no new jobs and looks for them now and then.
    ///   - sites: Asked by jobs that obey the sites that they fetch from.
    ///   - activity: Counts the worker's requests, host by host.
    ///   - report: Receives what happens, from the worker's own task.
    init(
        _ name: String, queue: FetchQueue, downloader: any GatedDownloader, output: any JobOutput, inbox: RedisSubscription?,
        options: WorkerOptions, sites: Sites, activity: WorkerActivity = WorkerActivity(),
        report: @escaping @Sendable (WorkerReport) -> Void
    ) {
        self.name = name
        self.queue = queue
        self.downloader = downloader
        self.output = output
        self.inbox = inbox
        self.options = options
        self.activity = activity
        self.sites = sites
        self.report = report
    }

    /// Works on a queue until `stops` asks for an end, or until the queue is empty if the options say so.
    /// - Parameters:
    ///   - feed: Ends when the queue has been filled. An empty queue does not end the worker before that.
    ///   - activity: Counts the worker's requests, host by host.
    ///   - report: Receives what happens, from the worker's own task.
    /// - Throws: `StateError`, `StorageFailure` or `InvalidOptions`.
    package static func work(
        on name: String, of cluster: ClusterState, fetch: FetchSettings, into output: any JobOutput, options: WorkerOptions,
        stops: AsyncStream<Void>, feed: AsyncStream<Void>? = nil, activity: WorkerActivity = WorkerActivity(),
        report: @escaping @Sendable (WorkerReport) -> Void
    ) async throws -> WorkerEnd {
        try await cluster.checkEviction()
        var options = options
        options.longestHold = fetch.longestHold
        let downloader = try fetch.makeDownloader(concurrency: options.concurrency)
        defer { downloader.shutdown() }
        // An exchange without an answer is repeated on a fresh connection after a third of a lease. The pauses between attempts to connect
        // leave time to extend the lease.
        let own = try await cluster.another(commandTimeout: options.lease / 3, longestBackoff: options.lease / 4)
        let worker = randomName()
        let outcome: Result<WorkerEnd, any Error>
        do {
            let (subscriber, inbox) = try await own.listen(as: worker)
            // Bodies are not for the connection of the exchanges: a large one would delay them.
            let connections = Connections(cluster: own, bodies: cluster.connection, subscriber: subscriber)
            let robots = RobotsFetch(connections, downloader, fetch, concurrency: options.concurrency)
            let sites = Sites(userAgent: fetch.userAgent, pause: options.sitePause, source: robots.file)
            let queue = own.queue(name, patience: options.outagePatience)
            outcome = await Worker(
                worker, queue: queue, downloader: downloader, output: output, inbox: inbox, options: options, sites: sites,
                activity: activity, report: report
            ).run(stops: stops, feed: feed)
            await robots.close()
            await subscriber.close()
        } catch {
            outcome = .failure(error)
        }
        await own.close()
        return try outcome.get()
    }

    /// The connections to Redis that a worker has for everything but its jobs' bodies.
    struct Connections: Sendable {
        let cluster: ClusterState
        let bodies: RedisConnection
        let subscriber: RedisSubscriber
    }

    static func randomName() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

    /// Works until `stops` asks for an end, until an error occurs that will last, or until the queue is empty if the options say so.
    ///
    /// When `stops` asks for the first time, the jobs in flight are finished. The second time they are handed back, the third time they are
    /// left to the end of their leases.
    /// - Parameter feed: Ends when the queue has been filled. An empty queue does not end the worker before that.
    func run(stops: AsyncStream<Void>, feed: AsyncStream<Void>? = nil) async -> Result<WorkerEnd, any Error> {
        await WorkerRun(name, queue, downloader, output, inbox, options, activity, sites, report)(stops: stops, feed: feed)
    }
}

extension FetchSettings {
    /// A bound on the time from the claim of a job to its outcome. A job makes two requests where a kept answer does not fit. Requests
    /// may wait for places at hosts that redirects lead to, and for the robots.txt of each origin. The margin is for the wait in stock, and for storing the body.
    /// Only one of the requests has a body, which may last for as long as it moves.
    var longestHold: Duration {
        let waits = (PlacePatience.ofJob + Sites.longestLook) * min(maximumRedirects, Self.mostWaits)
        return timeout + longestTransfer + waits + Sites.longestLook + Self.holdMargin
    }

    private static let mostWaits = 20
    private static let holdMargin = Duration.seconds(120)
}
