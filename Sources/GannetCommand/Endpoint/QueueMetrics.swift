import Crawl
import GannetQueue

extension MetricsText {
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
                (labels: own + [("state", state.rawValue)], value: report.workers.count { $0.state(at: report.now) == state })
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
    mutating func add(_ bodies: BlobUsage, limit: Int?) {
        add("gannet_body_cache_memory_bytes", .gauge, "Memory of Redis that bodies take.", bodies.memory)
        add("gannet_body_cache_limit_bytes", .gauge, "The most that this worker lets them take.", limit)
        add("gannet_body_cache_evicted_total", .counter, "Bodies that made room for others.", bodies.evicted)
    }

    /// The server, as its user may know it.
    mutating func add(_ health: ServerStatus) {
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
