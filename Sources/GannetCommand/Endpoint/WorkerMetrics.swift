import Gannet
import GannetBasics

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

/// The system's figures about this process, under the names that Prometheus' own clients use.
struct ProcessFigures: Sendable {
    var processorSeconds: Double?
    var residentBytes: Int?
    var virtualBytes: Int?
    var openDescriptors: Int?
    var mostDescriptors: Int?
    /// Since 1970.
    var startSeconds: Double?

    static var current: ProcessFigures {
        var figures = ProcessFigures()
        var used = timespec()
        if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 {
            figures.processorSeconds = Double(used.tv_sec) + Double(used.tv_nsec) / 1_000_000_000
        }
        figures.mostDescriptors = DescriptorLimit.raised().value
        figures.readProc()
        return figures
    }

    /// Linux alone tells more.
    private mutating func readProc() {
        guard let line = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8), let name = line.lastIndex(of: ")") else { return }
        // From the third field on: the second is the program's name, which may have blanks in it.
        let fields = line[name...].split(separator: " ").dropFirst().map(String.init)
        let page = sysconf(Int32(_SC_PAGESIZE))
        let tick = sysconf(Int32(_SC_CLK_TCK))
        if fields.count > 21 {
            virtualBytes = Int(fields[20])
            residentBytes = Int(fields[21]).map { $0 * page }
            if let started = Double(fields[19]), tick > 0, let boot = Self.bootSeconds { startSeconds = boot + started / Double(tick) }
        }
        openDescriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count
    }

    private static let bootSeconds: Double? = {
        let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
        return text?.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst("btime ".count)) }
    }()
}

extension MetricsText {
    mutating func add(_ process: ProcessFigures) {
        add("process_cpu_seconds_total", .counter, "Processor time used, in seconds.", process.processorSeconds)
        add("process_resident_memory_bytes", .gauge, "Memory in use.", process.residentBytes)
        add("process_virtual_memory_bytes", .gauge, "Address space in use.", process.virtualBytes)
        add("process_open_fds", .gauge, "Open file descriptors.", process.openDescriptors)
        add("process_max_fds", .gauge, "The most file descriptors that may be open.", process.mostDescriptors)
        add("process_start_time_seconds", .gauge, "When the process began, in seconds since 1970.", process.startSeconds)
    }
}
