import Crawl
import GannetBase
import GannetQueue

extension MetricsText {
    /// The page of a worker, as far as it has begun and its queue could be looked at.
    init(of subject: WorkerEndpoint.Subject?, _ figures: QueueFigures?) {
        self.init()
        if let subject {
            let (tally, places) = (subject.tally, subject.tally.activity.places)
            add(
                "gannet_worker_info", .gauge, "Which version works on which queue.", 1,
                [("version", Version.current), ("queue", subject.queue)])
            add("gannet_worker_concurrency", .gauge, "The most requests in flight at once, now.", places.count)
            add(
                "gannet_worker_concurrency_bound", .gauge, "Why the worker makes no more requests at once.", 1,
                [("reason", places.bound.rawValue)])
            add(
                "gannet_worker_stopping", .gauge, "Whether the worker takes no more jobs because it was asked to end.",
                subject.interruption.request != nil)
            add(
                "gannet_worker_standstill", .gauge,
                "Whether the worker takes no more jobs because Redis or the folder does not take the bodies of those it has.",
                tally.standstill != nil)
            add(tally.counts, tally.activity)
            add(
                "gannet_queue_data_losses_total", .counter,
                "How often this worker found that Redis knows of fewer jobs than the queue had accepted.", tally.losses)
            // The sums of a part would be lower than those of the whole, and a counter that falls tells of a restart.
            let queue = figures?.queue.flatMap { $0.isPartial ? nil : $0 }
            add("gannet_redis_up", .gauge, "Whether Redis, with all its parts, answers this worker.", queue != nil)
            if let queue { add(queue, of: subject.queue) }
            if let health = figures?.health { add(health) }
            if let bodies = figures?.bodies { add(bodies, limit: subject.bodyLimit) }
        }
        add(ProcessFigures.current)
    }

    /// The counts of one worker since it began.
    private mutating func add(_ counts: WorkCounts, _ activity: WorkerActivity) {
        let timings = activity.timings
        add("gannet_worker_in_flight", .gauge, "Requests in flight.", activity.inFlight)
        add(
            "gannet_worker_jobs_total", .counter, "Jobs of this worker that have ended, by outcome.",
            WorkCounts.Outcome.allCases.map { (labels: [("outcome", $0.rawValue)], value: counts.count(of: $0)) })
        add("gannet_worker_failures_total", .counter, "Jobs given up, by class.", Self.samples(counts.failures))
        add("gannet_worker_retries_total", .counter, "Attempts that were not the last, by class.", Self.samples(counts.retries))
        add("gannet_worker_fetched_bytes_total", .counter, "Bytes of bodies that were fetched.", counts.bytes)
        add(
            "gannet_worker_cache_hits_total", .counter, "Jobs whose body was in its place already.",
            [(labels: [("tier", "body")], value: counts.there)])
        add(
            "gannet_worker_cache_misses_total", .counter, "Jobs whose URL was known and whose body was gone.",
            [(labels: [("tier", "body")], value: counts.count(of: .refetched))])
        add(
            "gannet_worker_fetch_duration_seconds", "Duration of requests, redirects included.",
            [
                (labels: [("outcome", "ok")], histogram: timings.fetches),
                (labels: [("outcome", "failed")], histogram: timings.failedFetches),
            ])
        add(
            "gannet_worker_claim_duration_seconds", "Time until Redis answered an exchange of outcomes for jobs.",
            [(labels: [], histogram: timings.exchanges)])
        add(
            "gannet_worker_settle_duration_seconds", "Time until Redis accepted outcomes, outages included.",
            [(labels: [], histogram: timings.settlements)])
        add("gannet_redis_outages_total", .counter, "How often Redis went away under this worker.", counts.outages)
    }

    /// All classes are there from the first: a count that begins with its first failure looks as if there had been none.
    private static func samples(_ classes: ClassCounts) -> [(labels: Labels, value: Int)] {
        let counts = classes.counts.merging(FailureClass.names.map { ($0, 0) }) { counted, _ in counted }
        return counts.sorted { $0.key < $1.key }.map { (labels: [("class", $0.key)], value: $0.value) }
    }

    /// A queue as Redis has it: every worker of it tells the same.
    mutating func add(_ report: QueueOverview, of queue: String) {
        let own: Labels = [("queue", queue)]
        let status = report.counts
        func samples(_ label: String, _ metric: QueueCount.Metric) -> [(labels: Labels, value: Int)] {
            QueueCount.all.filter { $0.metric == metric }.map { (labels: own + [(label, $0.name)], value: status[keyPath: $0.path]) }
        }
        add("gannet_queue_jobs", .gauge, "Jobs of the queue by where they stand.", samples("state", .state))
        add(
            "gannet_queue_held_jobs", .gauge, "Of the ready jobs those whose hosts rest or have no room.", report.waits.held, own)
        add(
            "gannet_queue_runnable_jobs", .gauge, "Of the ready jobs those that a worker could fetch now.",
            max(0, status.ready - report.waits.held), own)
        add("gannet_queue_held_hosts", .gauge, "Hosts that ready jobs wait for.", report.waits.hosts, own)
        add(
            "gannet_queue_oldest_ready_seconds", .gauge, "How long the oldest ready job has waited; 0 when none does.",
            (report.oldestAge ?? .zero) / .seconds(1), own)
        add("gannet_queue_paused", .gauge, "Whether the queue is paused.", status.isPaused, own)
        add(
            "gannet_queue_workers", .gauge, "Workers of the queue that were heard of lately.",
            WorkerStatus.State.allCases.map { state in
                (labels: own + [("state", state.rawValue)], value: report.workers.count { $0.state == state })
            })
        add(
            "gannet_queue_ended_total", .counter, "Jobs of the queue that have ended, by their outcome.",
            samples("outcome", .outcome))
        for count in QueueCount.all {
            guard case .counter(let name, let help) = count.metric else { continue }
            add(name, .counter, help, status[keyPath: count.path], own)
        }
    }

    /// The bodies that Redis keeps for all queues.
    /// - Parameter limit: This worker's; `nil` where it keeps bodies elsewhere.
    private mutating func add(_ bodies: BlobUsage, limit: Int?) {
        add("gannet_body_cache_memory_bytes", .gauge, "Memory of Redis that bodies take.", bodies.memory)
        add("gannet_body_cache_limit_bytes", .gauge, "The most that this worker lets them take.", limit)
        add("gannet_body_cache_evicted_total", .counter, "Bodies that made room for others.", bodies.evicted)
    }

    /// The server, as its user may know it.
    private mutating func add(_ health: ServerStatus) {
        add("gannet_redis_ping_seconds", .gauge, "How long Redis took to answer.", health.ping / .seconds(1))
        add("gannet_redis_used_memory_bytes", .gauge, "Memory that Redis uses.", health.usedMemory)
        add("gannet_redis_max_memory_bytes", .gauge, "Memory that Redis may use; 0 without a limit.", health.memoryLimit)
        add("gannet_redis_evicted_keys_total", .counter, "Keys that Redis has dropped for want of memory.", health.evictedKeys)
        add("gannet_redis_may_evict_jobs", .gauge, "Whether Redis drops keys of any kind once it is full.", health.mayEvictJobs)
        add(
            "gannet_redis_persistence_failing", .gauge, "Whether Redis' last attempt to write its data to disk failed.",
            health.isPersistenceFailing)
    }
}
