import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import Results

/// Counts a worker's reports, and prints the ones that people should see at once.
final class WorkTally: Sendable {
    fileprivate struct State {
        var counts = WorkCounts()
        var complaints = ComplaintLimit(atFirst: 20, aMinute: 5)
        var losses = LossWatch()
        var total: (@Sendable () -> Int)?
        var queue: QueueProgress?
        var queueSeen: ContinuousClock.Instant?
        var waits = QueueWaits()
        var givenUp = RareCount()
        var places: PlacesWatch?
        /// The part of the network that was missing for the last request that failed, and when.
        var missing: (part: NetworkWant.Part, since: ContinuousClock.Instant)?
        /// Failures for addresses that are not public and could be allowed: the first is told, the rest is counted.
        var refusals = 0
        /// How many jobs have bodies that find no place, while the worker takes no more jobs for that.
        var standstill: Int?
        var ownRate = RateMeter()
        var queueRate = RateMeter()
    }

    private let state = Mutex(State())
    private let console: Console
    private let watch: RedisWatch
    private let network: NetworkWatch
    private let start = ContinuousClock.now

    /// The worker's requests at each host.
    let activity = WorkerActivity()

    private let places: Int?

    /// - Parameters:
    ///   - total: URLs of the command's own list, as far as it has been read; `nil` for a worker of a queue.
    ///   - places: Requests that the worker makes at once at most; `nil` where others share its queue, whose requests would look like
    ///     jobs that wait.
    init(_ console: Console, _ watch: RedisWatch, of total: (@Sendable () -> Int)? = nil, places: Int? = nil) {
        self.console = console
        self.watch = watch
        network = NetworkWatch(console)
        self.places = places
        state.withLock { state in
            state.total = total
            state.places = places.map(PlacesWatch.init)
        }
    }

    @Sendable func note(_ report: WorkerReport) {
        state.withLock { state in
            state.counts.note(report)
            state.noteNetwork(report)
        }
        switch report {
        case .fetched(let job, let bytes, let file):
            let place = file.map { " as \($0)" } ?? ""
            console.detail(
                "fetched \(job.url) (\(Amounts.bytes(bytes)))\(place)",
                job.facts("fetched", [(key: "bytes", value: .integer(bytes)), (key: "file", value: JSONValue(file))]))
        case .revalidated(let job, let file):
            console.detail("unchanged \(job.url)\(file.map { " as \($0)" } ?? "")", job.facts("revalidated"))
        case .cached(let job, let file):
            console.detail("there already \(job.url)\(file.map { " as \($0)" } ?? "")", job.facts("cached"))
        case .bodyMissing(let job):
            console.detail("\(job.url) was fetched before, but its body is gone; it is fetched again", job.facts("refetched"))
        case .putOff(let job, let postponement):
            if let want = postponement.want { network.note(want) }
            console.detail(
                "will be tried again \(postponement.pause.map { "in \(Amounts.time($0))" } ?? "after a pause"): \(postponement.sentence)",
                job.facts(
                    "retried",
                    [(key: "class", value: .string(postponement.errorClass)), (key: "pauseSeconds", value: JSONValue(postponement.pause))]))
        case .failed(let job, let sentence, let errorClass):
            complain(of: job, errorClass == FailureCounts.disallowed ? sentence : "failed: \(sentence)", errorClass)
        case .skipped(let job, let failure, let errorClass):
            let remembered = "this is remembered for another \(Amounts.time(failure.remaining))"
            complain(
                of: job,
                "skipped: \(job.url) failed \(Amounts.time(failure.age)) ago (\(errorClass)); \(remembered) ('gannet explain \(job.url)')",
                errorClass)
        case .lost(let job): console.detail("lost the lease on \(job.url): another worker has it", job.facts("lost"))
        case .malformed(let job):
            console.warn(
                "Redis could not keep the outcome of \(job.url): run 'gannet doctor' to check the queue", job.facts("malformed"))
        case .handedBack(let job): console.detail("handed back \(job.url)", job.facts("handedBack"))
        case .drainAsked:
            console.note("asked by 'gannet workers drain' to finish its jobs and end.", [(key: "event", value: "drainAsked")])
        case .stopping(let active, let limit):
            let (urls, time) = (Amounts.count(active, "URL"), Amounts.time(limit))
            let fate =
                watch.isAway
                ? "\(urls) in flight cannot end while Redis does not answer. After \(time) they are left, and fetched again later."
                : "\(urls) in flight may end within \(time)."
                    + (watch.isPartAway ? " URLs whose part of Redis is still away then are left, and fetched again later." : "")
            console.note(
                "stopping; \(fate) Stop again to leave at once.",
                [(key: "event", value: "stopping"), (key: "active", value: .integer(active))])
        case .handingBack(let active, let limit):
            console.note(
                "handing back \(Amounts.count(active, "URL")), within \(Amounts.time(limit)). Stop again to leave them: each is charged a crash then.",
                [(key: "event", value: "handingBack"), (key: "active", value: .integer(active))])
        case .left(let job): console.detail("left \(job.url): it can be claimed again when its lease ends", job.facts("left"))
        case .leftBehind(let left): console.warn(left.sentence, left.facts)
        case .givenUp(let count):
            if let total = state.withLock({ $0.givenUp.add(count, at: .now) }) { tellGivenUp(total) }
        case .progress(let accepted, let ended, let waits):
            // A call that began to wait may have been cancelled since. A part of a cluster may still move or be away.
            if watch.isAway { watch.note(.ended) }
            let lost = state.withLock { state in
                state.waits = waits
                state.queue = QueueProgress(accepted: accepted, ended: ended, own: state.counts.ended, after: state.queue)
                let now = ContinuousClock.now
                state.queueSeen = now
                state.queueRate.note(ended: ended, bytes: 0, at: now)
                return state.losses.note(accepted: accepted)
            }
            if let lost { tellLoss(of: lost, now: accepted) }
        case .missing:
            console.warn(
                "the jobs that are left are missing from the queue: Redis has lost them, or they were damaged; 'gannet doctor' tells more")
        case .room(.full(server: let server)):
            console.warn(
                "Redis at \(server) has no room for more bodies: they wait. Raise its maxmemory, or lower '--cache-limit' to what it has.",
                [(key: "event", value: "storeFull"), (key: "server", value: .string(server))])
        case .room(.limitReached):
            console.warn(
                "Redis has no room for more bodies: they wait, because all bodies within '--cache-limit' are in use. Raise that limit.",
                [(key: "event", value: "storeFull")])
        case .room(.held(let batches)):
            console.warn(
                "Redis has no room for more bodies within '--cache-limit': \(HeldBodies(batches).sentence) The worker takes no more jobs until then.",
                [(key: "event", value: "storeHeld"), (key: "batches", value: .array(batches.map { .string($0.batch) }))])
        case .room(.there): console.warn("Redis has room for bodies again; going on.", [(key: "event", value: "storeHasRoom")])
        case .standstill(let jobs?):
            state.withLock { $0.standstill = jobs }
            console.warn(
                "the worker takes no more jobs for now: Redis or the folder does not take the bodies of its \(Amounts.count(jobs, "job")). "
                    + "A server may be away or full, which 'gannet status' tells.",
                [(key: "event", value: "standstill"), (key: "jobs", value: .integer(jobs))])
        case .standstill(nil):
            state.withLock { $0.standstill = nil }
            console.warn("bodies are stored again; going on.", [(key: "event", value: "standstillEnded")])
        case .redis(let outage): watch.note(outage)
        }
    }

    /// Prints how many failures were not told one by one.
    func finish() {
        let (givenUp, untold, refusals) = state.withLock { ($0.givenUp.rest(), $0.complaints.rest(), $0.refusals) }
        if refusals > 1, console.verbosity < .verbose {
            console.complain(
                "… and \(Amounts.count(refusals - 1, "more URL")) with addresses that are not public",
                [(key: "event", value: "failuresNotTold"), (key: "count", value: .integer(refusals - 1))])
        }
        if let givenUp { tellGivenUp(givenUp) }
        if let untold { tellUntold(untold) }
    }

    /// Looks for lost jobs once more at the end: a queue may be empty because Redis was emptied.
    func lookForLoss(_ queue: FetchQueue) async {
        guard let status = try? await queue.counts() else { return }
        note(.progress(accepted: status.enqueued, ended: status.done + status.failed + status.cancelled))
    }

    private func complain(of job: JobLabel, _ sentence: String, _ errorClass: String) {
        let network = errorClass == Self.refusedClass ? AddressGuard.network(refusedIn: sentence) : nil
        let refusals = network == nil ? 0 : state.withLock { $0.refuse() }
        if console.verbosity < .verbose {
            if refusals > 1 { return }
            switch refusals == 1 ? .tell : state.withLock({ $0.complaints.note(at: .now) }) {
            case .keep: return
            case .tellAfter(let untold): tellUntold(untold)
            case .tell: break
            }
        }
        console.complain(sentence, job.facts("failed", [(key: "class", value: .string(errorClass))]))
        if refusals == 1, let network { console.note(Self.advice(for: network)) }
    }

    private func tellUntold(_ count: Int) {
        console.complain(
            "… and \(Amounts.count(count, "further failure")); '--verbose' shows each",
            [(key: "event", value: "failuresNotTold"), (key: "count", value: .integer(count))])
    }

    private func tellGivenUp(_ total: Int) {
        console.complain(
            "skipped: \(Amounts.count(total, "URL")) so far, without a request. Each failed a short while ago, or its host does not answer, or three workers died with it; 'gannet jobs list --state dead' shows them.",
            [(key: "event", value: "givenUp"), (key: "count", value: .integer(total))])
    }

    private func tellLoss(of before: Int, now: Int) {
        console.warn(
            "JOBS ARE GONE: this queue had accepted \(Amounts.count(before, "URL")), and Redis knows of \(now) now. Unless somebody purged it, Redis has "
                + "lost its data: it was emptied, was started without its files, or fell back to an older state. Enqueue again the URLs that had not ended.",
            [
                (key: "event", value: "dataLost"), (key: "acceptedBefore", value: .integer(before)),
                (key: "acceptedNow", value: .integer(now)),
            ])
    }

    /// How far it has come.
    func snapshot(at now: ContinuousClock.Instant) -> ProgressSnapshot {
        var snapshot = state.withLock { $0.snapshot(at: now) }
        snapshot.elapsed = now - start
        snapshot.isRedisAway = watch.isAway
        // The speed of before says nothing about the time until Redis or the network is back.
        snapshot.isPartAway = watch.isPartAway
        if snapshot.isRedisAway || snapshot.isPartAway || snapshot.missing != nil { snapshot.remaining = nil }
        let seen = activity.snapshot
        snapshot.slowest = seen.slowest(Self.mostHosts)
        let waiting = snapshot.inLine - seen.hosts.reduce(0) { $0 + $1.running }
        if let held = state.withLock({ $0.places?.look(at: seen, waiting: waiting, now: now) }), let places {
            snapshot.heldPlaces = (held, places)
        }
        return snapshot
    }

    private static let mostHosts = 4
    private static let refusedClass = "refused"

    /// - Parameter network: A network that was refused.
    static func advice(for network: String) -> String {
        "addresses that are not public are refused unless they are allowed: '--allow-net \(network)' allows this one."
    }

    /// This worker's counts as a sentence.
    var summary: String {
        "This worker: \(ProgressText.counts(snapshot(at: .now)))." + (losses > 0 ? " The queue lost jobs meanwhile, see above." : "")
    }

    func logSummary(_ status: ExitStatus) {
        console.note(
            summary,
            [(key: "event", value: "ended"), (key: "exitStatus", value: .integer(Int(status.rawValue)))]
                + ProgressText.facts(snapshot(at: .now)))
    }

    var counts: WorkCounts { state.withLock { $0.counts } }

    /// How many jobs have bodies that find no place, where the worker takes no more jobs for that.
    var standstill: Int? { state.withLock { $0.standstill } }

    /// How often the queue was found with less than it had accepted.
    var losses: Int { state.withLock { $0.losses.losses } }
}

/// How far a queue has come.
private struct QueueProgress: Sendable {
    let accepted: Int
    let ended: Int
    /// How many had ended before the work at hand: when this worker began, or when the queue was last empty. A percentage of all
    /// jobs that the queue ever had would say little about the ones that wait now.
    let before: Int
    /// How many this worker has ended, and how many of them before the work at hand.
    private let own: Int
    let ownBefore: Int

    init(accepted: Int, ended: Int, own: Int, after last: QueueProgress?) {
        self.accepted = accepted
        self.ended = ended
        self.own = own
        if let last, last.accepted > last.ended || accepted == ended {
            (before, ownBefore) = (min(last.before, ended), last.ownBefore)
        } else if let last {
            (before, ownBefore) = (min(last.ended, ended), last.own)
        } else {
            // The first look comes late where a part of Redis is away. Jobs that this worker has ended by then are no earlier work.
            (before, ownBefore) = (max(0, ended - own), 0)
        }
    }
}

extension WorkTally.State {
    /// A URL is put off for ten seconds at most while a part of the network is missing.
    private static let networkPause = Duration.seconds(15)

    fileprivate mutating func noteNetwork(_ report: WorkerReport) {
        switch report {
        case .putOff(_, let postponement): missing = postponement.want.map { ($0.part, .now) }
        case .fetched, .revalidated: missing = nil
        default: break
        }
    }

    /// - Returns: How many refusals there are with this one.
    fileprivate mutating func refuse() -> Int {
        refusals += 1
        return refusals
    }

    fileprivate mutating func snapshot(at now: ContinuousClock.Instant) -> ProgressSnapshot {
        var snapshot = ProgressSnapshot()
        snapshot.fetched = counts.count(of: .fetched)
        snapshot.there = counts.count(of: .cached) + counts.count(of: .revalidated)
        snapshot.disallowed = counts.failures.counts[FailureCounts.disallowed] ?? 0
        snapshot.failed = counts.count(of: .failed) - snapshot.disallowed
        snapshot.bytes = counts.bytes
        snapshot.failures = counts.failures.sorted.filter { $0.errorClass != FailureCounts.disallowed }
        let ended = counts.ended
        ownRate.note(ended: ended, bytes: snapshot.bytes, at: now)
        snapshot.endedPerSecond = ownRate.rate?.endedPerSecond
        snapshot.bytesPerSecond = ownRate.rate?.bytesPerSecond
        snapshot.waits = waits
        if let missing, now - missing.since < Self.networkPause { snapshot.missing = missing.part }
        snapshot.inLine = queue.map { $0.accepted - $0.ended - waits.total } ?? 0
        var meter = ownRate
        if let total {
            snapshot.whole = .init(total: total(), ended: ended)
        } else if let queue {
            snapshot.whole = .init(
                total: queue.accepted - queue.before, ended: queue.ended - queue.before, name: "queue", endedBefore: queue.before,
                ownBefore: queue.ownBefore)
            snapshot.wholeAge = queueSeen.map { max(.zero, now - $0) }
            meter = queueRate
        }
        if let whole = snapshot.whole, whole.ended < whole.total { snapshot.remaining = meter.remaining(open: whole.total - whole.ended) }
        return snapshot
    }
}
