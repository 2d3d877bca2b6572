import Crawl
import GannetBase
import GannetQueue
import Results

/// Counts a worker's reports, and prints the ones that people should see at once.
final class WorkTally: Sendable {
    struct State {
        var counts = WorkCounts()
        var complaints = ComplaintLimit(atFirst: 20, aMinute: 5)
        var losses = LossWatch()
        var total: (@Sendable () -> Int)?
        var queue: QueueCourse?
        var queueSeen: ContinuousClock.Instant?
        var waits = QueueWaits()
        var givenUp = RareCount()
        var places: PlacesWatch?
        /// When a reason for the number of places was told last.
        var toldBounds: [PlacesBound: ContinuousClock.Instant] = [:]
        /// The part of the network that was missing for the last request that failed, when that was, and when it was so first.
        var missing: (part: String, last: ContinuousClock.Instant, first: ContinuousClock.Instant)?
        /// How long a URL waits for such a part; zero for ever.
        var patience = Duration.zero
        /// Failures for addresses that are not public and could be allowed: the first is told, the rest is counted.
        var refusals = 0
        /// How many jobs have bodies that find no place, while the worker takes no more jobs for that.
        var standstill: Int?
        /// Bodies wait until somebody makes room in the store.
        var lacksRoom = false
        var ownRate = RateMeter()
        var queueRate = RateMeter()
    }

    let state = Mutex(State())
    let console: Console
    let watch: RedisWatch
    let network: NetworkWatch
    private let start = ContinuousClock.now

    /// The worker's requests at each host.
    let activity = WorkerActivity()

    private let places: Int?

    /// - Parameters:
    ///   - total: URLs of the command's own list, as far as it has been read; `nil` for a worker of a queue.
    ///   - places: Requests that the worker makes at once at most; `nil` where others share its queue, whose requests would look like
    ///     jobs that wait.
    ///   - proxy: The address of the proxy that requests go through.
    ///   - patience: How long a URL waits for a network or proxy that is missing; zero for ever.
    init(
        _ console: Console, _ watch: RedisWatch, of total: (@Sendable () -> Int)? = nil, places: Int? = nil, proxy: String? = nil,
        patience: Duration = .zero
    ) {
        self.console = console
        self.watch = watch
        network = NetworkWatch(console, proxy: proxy, patience: patience)
        self.places = places
        state.withLock { state in
            state.total = total
            state.patience = patience
            state.places = places.map(PlacesWatch.init)
        }
    }

    /// Looks for lost jobs once more at the end: a queue may be empty because Redis was emptied.
    func lookForLoss(_ queue: FetchQueue) async {
        guard let status = try? await queue.counts() else { return }
        note(.progress(accepted: status.enqueued, ended: status.done + status.failed + status.cancelled))
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

/// How far a queue has come with the work at hand.
struct QueueCourse: Sendable {
    let accepted: Int
    let ended: Int
    /// How many had ended before the work at hand: when this worker began, or when the queue was last empty. A percentage of all
    /// jobs that the queue ever had would say little about the ones that wait now.
    let before: Int
    /// How many this worker has ended, and how many of them before the work at hand.
    private let own: Int
    let ownBefore: Int

    init(accepted: Int, ended: Int, own: Int, after last: QueueCourse?) {
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

    mutating func note(_ report: WorkerReport) {
        counts.note(report)
        switch report {
        case .putOff(_, let error, _): missing = error.missingPart.map { ($0, .now, missing?.part == $0 ? missing?.first ?? .now : .now) }
        case .hostFull, .fetched, .revalidated: missing = nil
        case .standstill(let jobs): standstill = jobs
        case .room(let room): lacksRoom = room != .there
        default: break
        }
    }

    /// - Returns: The earlier total of accepted jobs, where the queue has lost some.
    mutating func note(accepted: Int, ended: Int, _ waits: QueueWaits, at now: ContinuousClock.Instant) -> Int? {
        self.waits = waits
        queue = QueueCourse(accepted: accepted, ended: ended, own: counts.ended, after: queue)
        queueSeen = now
        queueRate.note(ended: ended, bytes: 0, at: now)
        return losses.note(accepted: accepted)
    }

    private static let boundPause = Duration.seconds(60)

    mutating func mayTell(_ bound: PlacesBound, at now: ContinuousClock.Instant) -> Bool {
        if let told = toldBounds[bound], now - told < Self.boundPause { return false }
        toldBounds[bound] = now
        return true
    }

    /// - Returns: How many refusals there are with this one.
    mutating func refuse() -> Int {
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
        if let missing, now - missing.last < Self.networkPause {
            snapshot.missing = missing.part
            snapshot.missingEnd = patience > .zero ? patience - (now - missing.first) : nil
        }
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
