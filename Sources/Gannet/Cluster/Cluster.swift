internal import ClusterState
package import HTTPEngine
internal import RedisClient

/// The fleet's shared state, as a program uses it: put URLs in, work on them, look.
package final class Cluster: Sendable {
    let control: RedisConnection
    let namespace: String
    private let persistence: Persistence

    /// Connects, and throws why not when the first attempt fails, or when the namespace is another schema's.
    package static func connect(_ options: ClusterOptions) async throws(ClusterError) -> Cluster {
        let control = try await ClusterError.wrappingRedis { () throws(RedisError) in
            var configuration = try RedisConfiguration(url: options.redis, passwordFile: options.passwordFile)
            configuration.tls.authorityFile = options.authorityFile
            configuration.clientName = "gannet"
            return try await RedisConnection.connect(configuration)
        }
        do throws(StateError) {
            try await ClusterState(control, namespace: options.namespace).checkSchema()
        } catch {
            await control.close()
            throw ClusterError(error)
        }
        return Cluster(control, options)
    }

    private init(_ control: RedisConnection, _ options: ClusterOptions) {
        self.control = control
        namespace = options.namespace
        let listener = options.outage.map { outage in { @Sendable (error: RedisError?) in outage(RedisOutage(error)) } }
        persistence = Persistence(patience: options.patience, listener: listener)
    }

    /// Ends the connections.
    package func close() async {
        await control.close()
    }

    /// A producer for one batch of a queue; a batch that was begun before goes on where it stopped.
    package func producer(
        queue: String, batch: String, from source: String, options: SubmissionOptions = .init()
    ) async throws(ClusterError) -> Producer {
        try await EvictionCheck.run(on: control)
        let queue = self.queue(queue)
        return try await ClusterError.wrapping { () throws(StateError) in
            try await Producer(queue, batch: batch, from: source, options: options)
        }
    }

    /// Whether a batch that was begun before was made from the same `source`. One that was not begun yet is begun.
    package func begin(batch: String, of queue: String, from source: String) async throws(ClusterError) -> Bool {
        try await ClusterError.wrapping { () throws(StateError) in
            try await self.queue(queue).begin(batch: batch, from: source, options: .fromProducer).source == source
        }
    }

    /// Ends a batch as far as it came: nothing will be added to it any more.
    package func close(batch: String, of queue: String) async throws(ClusterError) {
        try await ClusterError.wrapping { () throws(StateError) in try await self.queue(queue).close(batch: batch) }
    }

    /// A queue's depths and totals.
    package func status(of queue: String) async throws(ClusterError) -> QueueStatus {
        try await ClusterError.wrapping { () throws(StateError) in QueueStatus(try await self.queue(queue).counts()) }
    }

    /// What is to be seen of a queue: depths, totals, rates, workers, hosts, and the last minutes.
    package func report(on queue: String) async throws(ClusterError) -> QueueReport {
        try await ClusterError.wrapping { () throws(StateError) in QueueReport(try await self.queue(queue).overview()) }
    }

    /// Takes back at once what the workers of a queue held. Only for a caller who knows that there are none.
    package func reclaimAll(in queue: String) async throws(ClusterError) {
        try await ClusterError.wrapping { () throws(StateError) in try await self.queue(queue).reclaimAll() }
    }

    /// The server: its version, its memory, how quickly it answers.
    package func server() async throws(ClusterError) -> ServerStatus {
        try await ClusterError.wrappingRedis { () throws(RedisError) in try await ServerStatus(of: control) }
    }

    /// Removes a queue and everything in it.
    package func clear(queue: String) async throws(ClusterError) {
        try await ClusterError.wrapping { () throws(StateError) in try await self.queue(queue).clear() }
    }

    /// Works on a queue until it is empty, where that is asked for, or until `stops` says so.
    /// - Parameters:
    ///   - feed: Ends when the queue has been filled; until then its being empty means nothing.
    ///   - activity: What the worker does at each host is noted here.
    ///   - report: Called for everything worth telling, from the worker's own task.
    package func work(
        on name: String, fetch: FetchSettings, into output: any JobOutput, options: WorkerOptions, stops: AsyncStream<Void>,
        feed: AsyncStream<Void>? = nil, activity: WorkerActivity = WorkerActivity(), report: @escaping @Sendable (WorkerReport) -> Void
    ) async -> Result<WorkerEnd, WorkerFailure> {
        do throws(WorkerFailure) {
            try await WorkerFailure.wrapping { () throws(ClusterError) in try await EvictionCheck.run(on: control) }
            let downloader = try fetch.makeDownloader(concurrency: options.concurrency)
            defer { downloader.shutdown() }
            let queue = queue(name, Persistence(patience: options.outagePatience))
            let name = Worker.randomName()
            let (subscriber, inbox) = try await listen(to: queue.inbox(of: name))
            let worker = Worker(
                name, queue: queue, downloader: downloader, output: output, inbox: inbox, options: options, activity: activity,
                report: report)
            let outcome = await worker.run(stops: stops, feed: feed)
            await subscriber.close()
            return outcome
        } catch {
            return .failure(error)
        }
    }

    /// Another connection to the same Redis.
    func connection(patience: Duration) async throws(ClusterError) -> RedisConnection {
        try await ClusterError.wrappingRedis { () throws(RedisError) in
            var configuration = control.configuration
            configuration.commandTimeout = patience
            return try await RedisConnection.connect(configuration)
        }
    }

    private func listen(to channel: String) async throws(WorkerFailure) -> (RedisSubscriber, RedisSubscription) {
        do throws(RedisError) {
            let subscriber = try await RedisSubscriber.connect(control.configuration)
            return (subscriber, try await subscriber.subscribe(to: [channel]))
        } catch {
            throw .cluster(ClusterError(error))
        }
    }

    func queue(_ name: String, _ persistence: Persistence? = nil) -> FetchQueue {
        FetchQueue(control, namespace: namespace, name: name, persistence: persistence ?? self.persistence)
    }
}
