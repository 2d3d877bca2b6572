internal import GannetBase
package import GannetHTTP
package import GannetQueue
internal import GannetRedisClient
package import Results

/// Fetches the URLs of a queue's jobs with bounded concurrency, once. A worker that is stopped finishes its jobs or hands them back.
///
/// It carries out what its ``WorkerMachine`` decides: sends exchanges, runs jobs, and keeps the time.
package final class Worker: Sendable {
    private let name: String
    private let queue: FetchQueue
    private let inbox: RedisSubscription?
    private let options: WorkerOptions
    private let activity: WorkerActivity
    private let runner: JobRunner
    private let pulse = WorkerPulse()
    private let box: EventBox<WorkerMachine.Input>
    private let report: @Sendable (WorkerReport) -> Void

    /// - Parameters:
    ///   - name: A name that no other worker has.
    ///   - inbox: A subscription to the inboxes of this name. Without one, the worker hears of no new jobs and looks for them now and then.
    ///   - sites: Asked by jobs that obey the sites that they fetch from.
    ///   - activity: Counts the worker's requests, host by host.
    ///   - report: Receives what happens, from the worker's own task.
    init(
        _ name: String, queue: FetchQueue, downloader: any Downloader, output: any JobOutput, inbox: RedisSubscription?,
        options: WorkerOptions, sites: Sites, activity: WorkerActivity = WorkerActivity(),
        report: @escaping @Sendable (WorkerReport) -> Void
    ) {
        let box = EventBox<WorkerMachine.Input>()
        self.name = name
        self.queue = queue
        self.inbox = inbox
        self.options = options
        self.activity = activity
        self.box = box
        self.report = report
        // The first report to onlookers may come before the machine's first turn.
        activity.note(Places(most: options.concurrency, adapts: options.adaptsConcurrency))
        runner = JobRunner(queue, downloader, output, activity, options, sites, tell: box.put)
        output.watchRoom { room in
            activity.note(room)
            box.put(.room(!room.isHeld))
            report(.room(room))
        }
    }

    /// Works until `stops` asks for an end, until an error occurs that will last, or until the queue is empty if the options say so.
    ///
    /// When `stops` asks for the first time, the jobs in flight are finished. The second time they are handed back, the third time they are
    /// left to the end of their leases.
    /// - Parameter feed: Ends when the queue has been filled. An empty queue does not end the worker before that.
    func run(stops: AsyncStream<Void>, feed: AsyncStream<Void>? = nil) async -> Result<WorkerEnd, any Error> {
        let heartbeat = Heartbeat(name: name, queue: queue, pulse: pulse, activity: activity, options: options) {
            self.box.put(.drainAsked)
        }
        // A task of its own: a worker whose task is cancelled still has to hand its jobs back.
        let working = Task(executorPreference: runner.executor) {
            await withDiscardingTaskGroup(returning: (Result<WorkerEnd, any Error>, LeftBehind).self) { group in
                group.addTask { await self.listen() }
                group.addTask { await self.watchConnection() }
                group.addTask { await heartbeat.run(self.note) }
                group.addTask { await heartbeat.runAfterBeginnings(self.note) }
                group.addTask {
                    for await _ in stops { self.box.put(.stopRequested) }
                }
                if let feed {
                    group.addTask {
                        for await _ in feed {}
                        if !Task.isCancelled { self.box.put(.feedEnded) }
                    }
                }
                defer { group.cancelAll() }
                return await self.work(isFed: feed != nil, &group)
            }
        }
        let (end, behind) = await withTaskCancellationHandler {
            await working.value
        } onCancel: {
            self.box.put(.cancelled)
        }
        var left = behind
        left.partitionCount = queue.cluster.partitions.count
        if left.jobs > 0 {
            // The worker stays on the list, so that 'workers drain' does not count it as ended.
            pulse.note(held: left.jobs, isStopping: true, partitions: left.partitions)
            await heartbeat.sayLast()
            left.isListed = true
        } else {
            left.isListed = await !heartbeat.leave()
        }
        if left.isAnything { report(.leftBehind(left)) }
        return end
    }

    private func work(
        isFed: Bool, _ group: inout DiscardingTaskGroup
    ) async -> (end: Result<WorkerEnd, any Error>, left: LeftBehind) {
        var machine = WorkerMachine(
            options, worker: name, partitions: queue.cluster.partitions.count,
            inbox: inbox == nil ? nil : name, isFed: isFed, mostWaiting: runner.output.mostWaiting)
        var left = LeftBehind()
        var transfers: [LockToken: TransferHandle] = [:]
        var alarms: [ContinuousClock.Instant] = []
        var inputs: [WorkerMachine.Input] = [.heard]
        while true {
            let now = ContinuousClock.now
            for case .transferEnded(let token, _) in inputs { transfers[token] = nil }
            for case .adopted(let token) in inputs { transfers[token] = nil }
            for action in machine.take(inputs, at: now, seeing: sight) {
                switch action {
                case .send(let lane, let request): group.addTask { self.box.put(await self.exchange(lane, request)) }
                case .start(let job):
                    let handle = TransferHandle()
                    if job.needsTransfer { transfers[job.token] = handle }
                    group.addTask { await self.runner.run(job, handle) }
                case .cancel(let token, let reason): transfers[token]?.cancel(reason)
                case .report(let news): report(news)
                case .reportSilence: report(.redis(queue.cluster.silence))
                case .leave(let jobs): left = jobs
                case .settled(let time): activity.settled(after: time)
                case .finish(let end): return (end, left)
                }
            }
            pulse.note(held: machine.begun, isStopping: machine.isStopping, partitions: machine.partitionsAtWork)
            activity.note(machine.places)
            // An alarm that rings before its time is over wakes the machine for nothing. More alarms than needed would be worse.
            for case .woken(let time) in inputs { alarms.removeAll { $0 == time } }
            if let time = machine.wakeUp(after: now), !alarms.contains(where: { $0 <= time }) {
                alarms.append(time)
                group.addTask {
                    try? await Task.sleep(until: time)
                    self.box.put(.woken(time))
                }
            }
            inputs = await box.next()
        }
    }

    /// The worker as it finds the number of its places.
    private func sight() -> Places.Sight {
        Places.Sight(lag: max(box.lag.average(), runner.downloader.lag), ends: activity.takeEnds(), memory: .now)
    }

    private func exchange(_ lane: Lane.ID, _ request: ExchangeRequest) async -> WorkerMachine.Input {
        let start = ContinuousClock.now
        do throws(StateError) {
            let exchange = try await queue.exchange(request, in: queue.cluster.partitions[lane.partition])
            let time = ContinuousClock.now - start
            activity.exchanged(after: time)
            return .answered(lane, exchange, after: time)
        } catch {
            activity.exchangeFailed(fullServer: error.redis.flatMap { $0.kind == .outOfMemory ? $0.server : nil })
            return .unanswered(lane, queue.cluster.naming(error))
        }
    }

    private func listen() async {
        guard let inbox else { return }
        // This is a message, or the loss of some. In both cases there may be new jobs.
        for await _ in inbox { box.put(.heard) }
    }

    private func watchConnection() async {
        for await outage in queue.cluster.outages where outage != .ended { box.put(.cannotConnect(outage)) }
    }

    private func note(_ progress: QueueProgress) {
        report(.progress(accepted: progress.accepted, ended: progress.ended, waits: progress.waits))
    }
}

extension Worker {
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
            let robots = RobotsFetch(
                own, bodies: cluster.connection, subscriber, downloader, fetch, concurrency: options.concurrency)
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

    static func randomName() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
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

    /// Starts an engine with these settings, and with this limit of transfers at a time.
    func makeDownloader(concurrency: Int) throws(InvalidOptions) -> CurlDownloader {
        var settings = self
        settings.maximumInFlight = concurrency
        return try CurlDownloader(settings)
    }
}

/// Events from any task for one reader, who gets all that have gathered at once.
final class EventBox<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        var reader: CheckedContinuation<[Event], Never>?
    }

    private let state = Mutex(State())
    /// How long events wait for the reader.
    let lag = Lag()

    func put(_ event: Event) {
        let reader = state.withLock { state -> CheckedContinuation<[Event], Never>? in
            guard let reader = state.reader else {
                if state.events.isEmpty { lag.begin() }
                state.events.append(event)
                return nil
            }
            state.reader = nil
            return reader
        }
        guard let reader else { return }
        lag.begin()
        reader.resume(returning: [event])
    }

    /// Waits for at least one event. One task at a time may wait.
    func next() async -> [Event] {
        let events = await gathered()
        lag.end()
        return events
    }

    private func gathered() async -> [Event] {
        await withCheckedContinuation { reader in
            let events = state.withLock { state -> [Event]? in
                guard !state.events.isEmpty else {
                    state.reader = reader
                    return nil
                }
                defer { state.events = [] }
                return state.events
            }
            if let events { reader.resume(returning: events) }
        }
    }
}
