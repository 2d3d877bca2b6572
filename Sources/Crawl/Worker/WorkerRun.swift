internal import GannetBase
internal import GannetHTTP
internal import GannetQueue
internal import GannetRedisClient
internal import Results

/// Carries out what a ``WorkerMachine`` decides: sends exchanges, runs jobs, and keeps the time.
final class WorkerRun: Sendable {
    private let worker: String
    private let queue: FetchQueue
    private let inbox: RedisSubscription?
    private let options: WorkerOptions
    private let activity: WorkerActivity
    private let runner: JobRunner
    private let pulse = WorkerPulse()
    private let box: EventBox<WorkerMachine.Input>
    private let report: @Sendable (WorkerReport) -> Void

    init(
        _ worker: String, _ queue: FetchQueue, _ downloader: any GatedDownloader, _ output: any JobOutput, _ inbox: RedisSubscription?,
        _ options: WorkerOptions, _ activity: WorkerActivity, _ sites: Sites, _ report: @escaping @Sendable (WorkerReport) -> Void
    ) {
        let box = EventBox<WorkerMachine.Input>()
        self.worker = worker
        self.queue = queue
        self.inbox = inbox
        self.options = options
        self.activity = activity
        self.box = box
        self.report = report
        // The first report to onlookers may come before the machine's first turn.
        activity.note(places: Places(most: options.concurrency, adapts: options.adaptsConcurrency).count)
        runner = JobRunner(queue, downloader, output, activity, options, sites, tell: box.put)
        output.watchRoom { room in
            activity.note(room)
            box.put(.room(!room.isHeld))
            report(.room(room))
        }
    }

    func callAsFunction(stops: AsyncStream<Void>, feed: AsyncStream<Void>?) async -> Result<WorkerEnd, any Error> {
        let heartbeat = Heartbeat(name: worker, queue: queue, pulse: pulse, activity: activity, options: options) {
            self.box.put(.drainAsked)
        }
        let leftBehind = Mutex(LeftBehind())
        // A task of its own: a worker whose task is cancelled still has to hand its jobs back.
        let working = Task(executorPreference: runner.executor) {
            await withDiscardingTaskGroup(returning: Result<WorkerEnd, any Error>.self) { group in
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
                let end = await self.work(isFed: feed != nil, &group) { left in leftBehind.withLock { $0 = left } }
                group.cancelAll()
                return end
            }
        }
        let end = await withTaskCancellationHandler {
            await working.value
        } onCancel: {
            self.box.put(.cancelled)
        }
        var left = leftBehind.withLock { $0 }
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
        isFed: Bool, _ group: inout DiscardingTaskGroup, _ leave: (LeftBehind) -> Void
    ) async -> Result<WorkerEnd, any Error> {
        var machine = WorkerMachine(
            options, worker: worker, partitions: queue.cluster.partitions.count,
            inbox: inbox == nil ? nil : worker, isFed: isFed, mostWaiting: runner.output.mostWaiting)
        var transfers: [LockToken: TransferHandle] = [:]
        var alarms: [ContinuousClock.Instant] = []
        var inputs: [WorkerMachine.Input] = [.heard]
        while true {
            let now = ContinuousClock.now
            for case .transferEnded(let token, _) in inputs { transfers[token] = nil }
            for case .adopted(let token) in inputs { transfers[token] = nil }
            for action in machine.take(inputs, lag: max(box.lag.average(at: now), runner.downloader.lag), at: now) {
                switch action {
                case .send(let lane, let request): group.addTask { self.box.put(await self.exchange(lane, request)) }
                case .start(let claimed):
                    let handle = TransferHandle()
                    if claimed.job.needsTransfer { transfers[claimed.job.token] = handle }
                    group.addTask { await self.runner.run(claimed, handle) }
                case .cancel(let token, let reason): transfers[token]?.cancel(reason)
                case .report(let news): report(news)
                case .reportSilence: report(.redis(queue.cluster.silence))
                case .leave(let left): leave(left)
                case .settled(let time): activity.settled(after: time)
                case .finish(let end): return end
                }
            }
            pulse.note(held: machine.begun, isStopping: machine.isStopping, partitions: machine.partitionsAtWork)
            activity.note(places: machine.places.count)
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
