import Crawl
import GannetQueue

extension MetricsText {
    /// A queue as Redis has it: every worker of it tells the same.
    mutating func add(_ report: QueueOverview, of queue: String) {
        let own: Labels = [("queue", queue)]
        let status = report.counts
        add(
            "gannet_queue_jobs", .gauge, "Jobs of the queue by where they stand.",
            [
                ("ready", status.ready), ("active", status.active), ("parked", status.parked), ("delayed", status.delayed),
                ("dead", status.dead),
            ].map { (labels: own + [("state", $0.0)], value: $0.1) })
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
        add("gannet_queue_enqueued_total", .counter, "Jobs the queue has accepted.", status.enqueued, own)
        add(
            "gannet_queue_ended_total", .counter, "Jobs of the queue that have ended, by their outcome.",
            [
                ("fetched", status.fetched), ("revalidated", status.revalidated), ("cached", status.cached), ("failed", status.failed),
                ("cancelled", status.cancelled),
            ].map { (labels: own + [("outcome", $0.0)], value: $0.1) })
        add("gannet_queue_retried_total", .counter, "Attempts that were not the last.", status.retried, own)
        add("gannet_queue_crashed_total", .counter, "Attempts whose worker vanished.", status.crashed, own)
        add("gannet_queue_fenced_total", .counter, "Outcomes refused because the lease had been lost.", status.fenced, own)
        add(
            "gannet_queue_double_fetches_total", .counter, "URLs fetched by a worker whose lease had been lost meanwhile.",
            status.doubleFetches, own)
        add("gannet_queue_fetched_bytes_total", .counter, "Bytes of bodies that were fetched.", status.bytes, own)
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
