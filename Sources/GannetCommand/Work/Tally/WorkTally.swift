import Gannet
internal import GannetBasics

/// Counts what a worker reports and says what people should hear at once.
final class WorkTally: Sendable {
    fileprivate struct State {
        var counts = WorkCounts()
        var complaints = ComplaintLimit(atFirst: 20, aMinute: 5)
        var losses = LossWatch()
        var whole: Whole?
        var queue: (accepted: Int, ended: Int)?
        var waits = QueueWaits()
        var givenUp = RareCount()
        var places: PlacesWatch?
        var ownRate = RateMeter()
        var queueRate = RateMeter()
    }

    private let state = Mutex(State())
    private let console: Console
    private let watch: RedisWatch
    private let network: NetworkWatch
    private let start = ContinuousClock.now

    /// What the worker does at each host.
    let activity = WorkerActivity()

    private let places: Int?

    /// The job as a whole, where that is known.
    struct Whole: Sendable {
        private let count: @Sendable () -> Int
        /// What had been done before this worker began.
        var done = 0
        var failed = 0

        init(total: Int, done: Int = 0, failed: Int = 0) {
            count = { total }
            self.done = done
            self.failed = failed
        }

        /// - Parameter count: How large it is as far as is known; a list may still be read.
        init(_ count: @escaping @Sendable () -> Int) { self.count = count }

        var total: Int { count() }
    }

    /// - Parameter places: Requests that the worker makes at once at most, where it has its queue for itself: what else is in flight would look as if it waited.
    init(_ console: Console, _ watch: RedisWatch, of whole: Whole? = nil, places: Int? = nil) {
        self.console = console
        self.watch = watch
        network = NetworkWatch(console)
        self.places = places
        state.withLock { state in
            state.whole = whole
            state.places = places.map(PlacesWatch.init)
        }
    }

    @Sendable func note(_ report: WorkerReport) {
        state.withLock { $0.counts.note(report) }
        switch report {
        case .fetched(let job, let bytes, let file):
            let place = file.map { " as \($0)" } ?? ""
            console.detail(
                "fetched \(job.url) (\(Amounts.bytes(bytes)))\(place)",
                job.facts("fetched", [(key: "bytes", value: .integer(bytes)), (key: "file", value: JSONValue(file))]))
        case .revalidated(let job, let file):
            console.detail("\(job.url) is as it was\(file.map { ", as \($0)" } ?? "")", job.facts("revalidated"))
        case .cached(let job, let file):
            console.detail("\(job.url) is there already\(file.map { ", as \($0)" } ?? "")", job.facts("cached"))
        case .bodyMissing(let job):
            console.detail("\(job.url) was fetched, but its body is not here: it is fetched again", job.facts("refetched"))
        case .putOff(let job, let postponement):
            if let want = postponement.want { network.note(want) }
            console.detail(
                "will be tried again \(postponement.pause.map { "in \(Amounts.time($0))" } ?? "after a pause"): \(postponement.sentence)",
                job.facts(
                    "retried",
                    [(key: "class", value: .string(postponement.errorClass)), (key: "pauseSeconds", value: JSONValue(postponement.pause))]))
        case .failed(let job, let sentence, let errorClass): complain(of: job, sentence, errorClass)
        case .lost(let job): console.detail("lost the lease on \(job.url): another worker has it", job.facts("lost"))
        case .handedBack(let job): console.detail("handed back \(job.url)", job.facts("handedBack"))
        case .stopping(let active, let limit):
            console.note(
                "stopping; \(Amounts.count(active, "URL")) in flight may end within \(Amounts.time(limit)). Stop again to leave at once.",
                [(key: "event", value: "stopping"), (key: "active", value: .integer(active))])
        case .left(let job): console.detail("left \(job.url): it can be claimed again when its lease ends", job.facts("left"))
        case .givenUp(let count):
            if let total = state.withLock({ $0.givenUp.add(count, at: .now) }) { tellGivenUp(total) }
        case .progress(let accepted, let ended, let waits):
            let lost = state.withLock { state in
                state.waits = waits
                state.queue = (accepted, ended)
                state.queueRate.note(ended: ended, bytes: 0, at: .now)
                return state.losses.note(accepted: accepted)
            }
            if let lost { tellLoss(of: lost, now: accepted) }
        case .foreign: console.warn("what is left in the queue is of another version, for a newer worker to take")
        case .redis(let outage): watch.note(outage)
        }
    }

    /// Says how many failures were not told one by one.
    func finish() {
        let (givenUp, untold) = state.withLock { ($0.givenUp.rest(), $0.complaints.rest()) }
        if let givenUp { tellGivenUp(givenUp) }
        if let untold { tellUntold(untold) }
    }

    /// Looks once more at the end: a queue that is empty since Redis was emptied has not come to its end.
    func lookForLoss(_ cluster: Cluster, _ queue: String) async {
        guard let status = try? await cluster.status(of: queue) else { return }
        note(.progress(accepted: status.enqueued, ended: status.done + status.failed + status.cancelled))
    }

    private func complain(of job: JobLabel, _ sentence: String, _ errorClass: String) {
        if console.verbosity < .verbose {
            switch state.withLock({ $0.complaints.note(at: .now) }) {
            case .keep: return
            case .tellAfter(let untold): tellUntold(untold)
            case .tell: break
            }
        }
        console.complain("failed: \(sentence)", job.facts("failed", [(key: "class", value: .string(errorClass))]))
    }

    private func tellUntold(_ count: Int) {
        console.complain(
            "… and \(Amounts.count(count, "further failure")); '--verbose' tells of each",
            [(key: "event", value: "failuresNotTold"), (key: "count", value: .integer(count))])
    }

    private func tellGivenUp(_ total: Int) {
        console.complain(
            "failed: \(Amounts.count(total, "URL")) so far given up unasked: what came of the same URL or its host before, or that it left three workers dead, stands against it; 'gannet jobs list --state dead' says which",
            [(key: "event", value: "givenUp"), (key: "count", value: .integer(total))])
    }

    private func tellLoss(of before: Int, now: Int) {
        console.warn(
            "JOBS ARE GONE: this queue had accepted \(Amounts.count(before, "URL")), and Redis knows of \(now) now. Unless somebody purged it, Redis has "
                + "lost its data: it was emptied, came back without them, or fell back to an older state. Enqueue again what had not ended.",
            [
                (key: "event", value: "dataLost"), (key: "acceptedBefore", value: .integer(before)),
                (key: "acceptedNow", value: .integer(now)),
            ])
    }

    /// How far it has come.
    func snapshot(at now: ContinuousClock.Instant) -> ProgressSnapshot {
        var snapshot = state.withLock { $0.snapshot(at: now) }
        snapshot.elapsed = now - start
        let seen = activity.snapshot
        snapshot.slowest = seen.slowest(Self.mostHosts)
        let waiting = snapshot.inLine - seen.hosts.reduce(0) { $0 + $1.running }
        if let held = state.withLock({ $0.places?.look(at: seen, waiting: waiting, now: now) }), let places {
            snapshot.heldPlaces = (held, places)
        }
        return snapshot
    }

    private static let mostHosts = 4

    /// What this worker has done.
    var summary: String { "This worker: \(ProgressText.counts(snapshot(at: .now)))." }

    func logSummary(_ status: ExitStatus) {
        console.note(
            summary,
            [(key: "event", value: "ended"), (key: "exitStatus", value: .integer(Int(status.rawValue)))]
                + ProgressText.facts(snapshot(at: .now)))
    }

    var counts: WorkCounts { state.withLock { $0.counts } }

    /// How often the queue was found with less than it had accepted.
    var losses: Int { state.withLock { $0.losses.losses } }
}

extension WorkTally.State {
    fileprivate mutating func snapshot(at now: ContinuousClock.Instant) -> ProgressSnapshot {
        var snapshot = ProgressSnapshot()
        snapshot.fetched = counts.count(of: .fetched)
        // Fetched for another job, or found to be as it was.
        snapshot.cached = counts.count(of: .cached) + counts.count(of: .revalidated)
        snapshot.failed = counts.count(of: .failed)
        snapshot.bytes = counts.bytes
        snapshot.failures = counts.failures.sorted
        let ended = snapshot.fetched + snapshot.cached + snapshot.failed
        ownRate.note(ended: ended, bytes: snapshot.bytes, at: now)
        snapshot.endedPerSecond = ownRate.rate?.endedPerSecond
        snapshot.bytesPerSecond = ownRate.rate?.bytesPerSecond
        snapshot.waits = waits
        snapshot.inLine = queue.map { $0.accepted - $0.ended - waits.total } ?? 0
        var meter = ownRate
        if let whole {
            snapshot.whole = .init(total: whole.total, ended: whole.done + whole.failed + ended)
        } else if let queue {
            snapshot.whole = .init(total: queue.accepted, ended: queue.ended, name: "queue")
            meter = queueRate
        }
        if let whole = snapshot.whole, whole.ended < whole.total { snapshot.remaining = meter.remaining(open: whole.total - whole.ended) }
        return snapshot
    }
}
