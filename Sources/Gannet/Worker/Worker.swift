package import BodyStores
package import ClusterState
package import HTTPEngine
internal import RedisClient

/// Claims jobs, fetches their URLs with bounded concurrency, and renews their leases. A worker that is stopped finishes
/// its jobs or hands them back.
package struct Worker: Sendable {
    private let name: String
    private let queue: FetchQueue
    private let downloader: any GatedDownloader
    private let output: any JobOutput
    private let inbox: RedisSubscription?
    private let options: WorkerOptions
    private let activity: WorkerActivity
    private let report: @Sendable (WorkerReport) -> Void

    /// - Parameters:
    ///   - name: A name that no other worker has.
    ///   - inbox: A subscription to the channel of this name. Without one, the worker hears of no new jobs and looks for them now and then.
    ///   - activity: Counts the worker's requests, host by host.
    ///   - report: Receives what happens, from the worker's own task.
    init(
        _ name: String, queue: FetchQueue, downloader: any GatedDownloader, output: any JobOutput, inbox: RedisSubscription?,
        options: WorkerOptions, activity: WorkerActivity = WorkerActivity(), report: @escaping @Sendable (WorkerReport) -> Void
    ) {
        self.name = name
        self.queue = queue
        self.downloader = downloader
        self.output = output
        self.inbox = inbox
        self.options = options
        self.activity = activity
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
        let downloader = try fetch.makeDownloader(concurrency: options.concurrency)
        defer { downloader.shutdown() }
        let worker = randomName()
        let (subscriber, inbox) = try await cluster.listen(as: worker)
        let queue = cluster.queue(name, patience: options.outagePatience)
        let outcome = await Worker(
            worker, queue: queue, downloader: downloader, output: output, inbox: inbox, options: options, activity: activity, report: report
        ).run(stops: stops, feed: feed)
        await subscriber.close()
        return try outcome.get()
    }

    static func randomName() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

    private enum Event: Sendable {
        case heard
        case claimed(Claim)
        case claimFailed(StateError)
        /// The leases were renewed, or this error prevented that.
        case renewed(StateError?)
        case jobEnded(JobRunner.End)
        case progressed(QueueProgress)
        case feedEnded
        case stopRequested
        case drainTimedOut
        case handBackTimedOut
    }

    /// Works until `stops` asks for an end, until an error occurs that will last, or until the queue is empty if the options say so.
    ///
    /// When `stops` asks for the first time, the jobs in flight are finished. The second time they are handed back, the third time they are
    /// left to the end of their leases.
    /// - Parameter feed: Ends when the queue has been filled. An empty queue does not end the worker before that.
    func run(stops: AsyncStream<Void>, feed: AsyncStream<Void>? = nil) async -> Result<WorkerEnd, any Error> {
        let (events, sender) = AsyncStream.makeStream(of: Event.self)
        let held = HeldLeases()
        let heartbeat = Heartbeat(name: name, queue: queue, held: held, activity: activity, options: options)
        let outcome = await withDiscardingTaskGroup(returning: Result<WorkerEnd, any Error>.self) { group in
            group.addTask { await renew(held, sender) }
            group.addTask { await listen(sender) }
            group.addTask { await heartbeat.run { sender.yield(.progressed($0)) } }
            group.addTask { await heartbeat.runAfterBeginnings { sender.yield(.progressed($0)) } }
            group.addTask {
                for await _ in stops { sender.yield(.stopRequested) }
            }
            if let feed {
                group.addTask {
                    for await _ in feed {}
                    sender.yield(.feedEnded)
                }
            }
            let outcome = await work(events, sender, held, isFed: feed != nil, &group)
            group.cancelAll()
            return outcome
        }
        await heartbeat.leave()
        return outcome
    }

    /// Handles the events one by one.
    private func work(
        _ events: AsyncStream<Event>, _ sender: AsyncStream<Event>.Continuation, _ held: HeldLeases, isFed: Bool,
        _ group: inout DiscardingTaskGroup
    ) async -> Result<WorkerEnd, any Error> {
        let runner = JobRunner(
            queue: queue, downloader: downloader, output: output, held: held, activity: activity, policy: options.retryPolicy,
            freshness: JobFreshness(policy: options.freshness, leastKept: options.outcomesKept), hostRule: options.hostRule,
            sendsTrace: options.sendsTrace)
        var machine = WorkerMachine(options, isFed: isFed)
        var end = WorkerEnd.empty
        var failure: (any Error)?
        var awaySince: ContinuousClock.Instant?
        var lookAt: ContinuousClock.Instant?
        var actions = machine.start()
        var iterator = events.makeAsyncIterator()
        var isHandingBack = false
        var hasToldOfForeign = false
        // The claim under way. It is repeated unchanged until it is answered, so that its jobs are handed out once.
        var request: ClaimRequest?

        // The time for handing jobs back is bounded, also if Redis does not answer.
        func handBack(_ group: inout DiscardingTaskGroup) {
            held.cancelAll()
            if isHandingBack { return }
            isHandingBack = true
            group.addTask {
                try? await Task.sleep(for: options.handBackTimeout)
                sender.yield(.handBackTimedOut)
            }
        }
        func stop() -> [WorkerMachine.Action] {
            held.claimNoMore()
            return machine.stop()
        }
        func noteAway(_ error: StateError) {
            if awaySince == nil { report(.redis(RedisOutage(error))) }
            awaySince = awaySince ?? .now
        }
        func noteBack() {
            if awaySince != nil { report(.redis(.ended)) }
            awaySince = nil
        }
        func result() -> Result<WorkerEnd, any Error> { failure.map { .failure($0) } ?? .success(end) }

        while true {
            for action in actions {
                switch action {
                case .claim(let limit):
                    let claiming = request ?? self.request(limit)
                    request = claiming
                    group.addTask { sender.yield(await claim(claiming)) }
                case .lookAgain(let pause, let maybeSooner):
                    // The worker starts another timer only if it ends before the timer that runs already.
                    let now = ContinuousClock.now
                    let time = now + (maybeSooner ? pause * Double.random(in: 0.8...1) : pause)
                    if let lookAt, lookAt > now, lookAt <= time { continue }
                    lookAt = time
                    group.addTask {
                        try? await Task.sleep(until: time)
                        sender.yield(.heard)
                    }
                case .finish:
                    if end == .empty, machine.onlyForeignWait { end = .foreignLeft }
                    return result()
                }
            }
            guard let event = await iterator.next() else {
                // The worker's own task was cancelled. Each job's task hands its job back.
                if end == .empty { end = .handedBack }
                return result()
            }
            switch event {
            case .heard:
                actions = machine.heard()
            case .feedEnded:
                actions = machine.feedEnded()
            case .claimed(let claim):
                noteBack()
                request = nil
                if claim.failed > 0 { report(.givenUp(claim.failed)) }
                // A claim may be answered after the worker has begun to hand its jobs back.
                let isTooLate = isHandingBack
                for job in claim.jobs {
                    group.addTask { sender.yield(.jobEnded(isTooLate ? await runner.handBack(job) : await runner.run(job))) }
                }
                actions = machine.claimed(claim.jobs.count, left: claim.left, isMore: claim.isMore, next: claim.next)
                if machine.onlyForeignWait, !hasToldOfForeign {
                    report(.foreign)
                    hasToldOfForeign = true
                }
            case .claimFailed(let error):
                let now = ContinuousClock.now
                if error.isTransient, now - (awaySince ?? now) < options.outagePatience {
                    noteAway(error)
                    actions = machine.claimFailed(retryAfter: .seconds(1), mayHaveBrought: error.mayHaveExecuted)
                } else {
                    failure = failure ?? error
                    handBack(&group)
                    held.claimNoMore()
                    actions = machine.claimGivenUp()
                }
            case .renewed(let error):
                // A worker whose places are all taken claims nothing. Only a renewal shows it that its outcomes wait for Redis.
                if let error { noteAway(error) } else { noteBack() }
                actions = []
            case .progressed(let progress):
                report(.progress(accepted: progress.accepted, ended: progress.ended, waits: progress.waits))
                actions = []
            case .jobEnded(.reported(let news)):
                report(news)
                actions = machine.jobEnded()
            case .jobEnded(.failed(let reason)):
                failure = failure ?? reason
                handBack(&group)
                actions = stop() + machine.jobEnded()
            case .stopRequested where end == .empty && failure == nil:
                end = .drained
                actions = stop()
                // An unanswered claim may still bring jobs. They are handed back, and the worker waits only as long as that may take.
                if machine.isClaimUnanswered, machine.active == 0 { handBack(&group) }
                if machine.active > 0 { report(.stopping(active: machine.active, limit: options.drainTimeout)) }
                group.addTask {
                    try? await Task.sleep(for: options.drainTimeout)
                    if !Task.isCancelled { sender.yield(.drainTimedOut) }
                }
            case .stopRequested where isHandingBack, .handBackTimedOut:
                held.abandonAll()
                return result()
            case .stopRequested, .drainTimedOut:
                if end == .drained { end = .handedBack }
                handBack(&group)
                actions = []
            }
        }
    }

    private func request(_ limit: Int) -> ClaimRequest {
        let nonce = Nonce(.random(in: .min ... .max))
        var request = ClaimRequest(limit, lease: options.lease, nonce: nonce, worker: name)
        request.inbox = inbox == nil ? nil : queue.cluster.inbox(of: name)
        request.host = options.hostRule
        return request
    }

    private func claim(_ request: ClaimRequest) async -> Event {
        let start = ContinuousClock.now
        do throws(StateError) {
            let claim = try await queue.claim(request)
            activity.claimed(after: ContinuousClock.now - start)
            return .claimed(claim)
        } catch {
            return .claimFailed(error)
        }
    }

    /// Renews all leases in one call, three times within the length of a lease.
    private func renew(_ held: HeldLeases, _ sender: AsyncStream<Event>.Continuation) async {
        while true {
            do { try await Task.sleep(for: options.lease / 3) } catch { return }
            let tokens = held.tokens
            if tokens.isEmpty { continue }
            do throws(StateError) {
                held.lose(try await queue.renew(tokens, lease: options.lease))
                sender.yield(.renewed(nil))
            } catch {
                // The next turn tries again: a lease outlives two failures. A lasting error will also fail a claim or a settlement.
                if error.isTransient { sender.yield(.renewed(error)) }
            }
        }
    }

    private func listen(_ sender: AsyncStream<Event>.Continuation) async {
        guard let inbox else { return }
        // This is a message, or the loss of some. In both cases there may be new jobs.
        for await _ in inbox { sender.yield(.heard) }
    }
}
