import Crawl
import GannetBase

extension MetricsText {
    /// The counts of one worker since it began.
    mutating func add(_ counts: WorkCounts, _ activity: WorkerActivity) {
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
            [(labels: [("tier", "body")], value: counts.count(of: .cached) + counts.count(of: .revalidated))])
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
}
