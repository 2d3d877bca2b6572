import Crawl
import GannetBase
import GannetQueue
import Results

/// Counts a worker's reports, and prints the ones that people should see at once.
final class WorkTally: Sendable {
    struct State {
        var counts = WorkCounts()
        var complaints = ComplaintLimit(atFirst: 20, aMinute: 5)
        var network: NetworkWatch
        let total: (@Sendable () -> Int)?
        var queue: ProgressSnapshot.Whole?
        var queueSeen: ContinuousClock.Instant?
        /// How many jobs this worker had ended by then.
        var ownSeen = 0
        /// How often the queue was found with fewer jobs than it had accepted.
        var losses = 0
        var waits = QueueWaits()
        /// Jobs that were given up without a fetch, and how many of them were told.
        var givenUp = (total: 0, told: 0)
        var places: PlacesWatch?
        /// For totals and reasons that are told once a minute.
        var limit = MinuteLimit()
        /// Failures for addresses that are not public and could be allowed: the first is told, the rest is counted.
        var refusals = 0
        /// How many jobs have bodies that find no place, while the worker takes no more jobs for that.
        var standstill: Int?
        /// Bodies wait until somebody makes room in the store.
        var lacksRoom = false
        var ownRate = RateMeter()
        var queueRate = RateMeter()
    }

    let state: Mutex<State>
    let console: Console
    let watch: RedisWatch
    private let start = ContinuousClock.now

    let activity = WorkerActivity()

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
        let network = NetworkWatch(proxy: proxy, patience: patience)
        state = Mutex(State(network: network, total: total, places: places.map(PlacesWatch.init)))
    }

    /// Looks for lost jobs once more at the end: a queue may be empty because Redis was emptied.
    func lookForLoss(_ queue: FetchQueue) async {
        guard let status = try? await queue.counts() else { return }
        note(.progress(accepted: status.enqueued, ended: status.done + status.failed + status.cancelled))
    }

    func snapshot(at now: ContinuousClock.Instant) -> ProgressSnapshot {
        let seen = activity.snapshot
        var snapshot = state.withLock { $0.snapshot(at: now, seen) }
        snapshot.elapsed = now - start
        snapshot.isRedisAway = watch.isAway
        snapshot.isPartAway = watch.isPartAway
        // The speed of before says nothing about the time until Redis or the network is back.
        if snapshot.isRedisAway || snapshot.isPartAway || snapshot.missing != nil { snapshot.remaining = nil }
        return snapshot
    }

    /// This worker's counts as a sentence.
    var summary: String {
        "This worker: \(snapshot(at: .now).ownCounts)." + (losses > 0 ? " The queue lost jobs meanwhile, see above." : "")
    }

    func logSummary(_ status: ExitStatus) {
        console.note(
            summary,
            [(key: "event", value: "ended"), (key: "exitStatus", value: .integer(Int(status.rawValue)))]
                + snapshot(at: .now).facts)
    }

    var counts: WorkCounts { state.withLock { $0.counts } }

    /// How many jobs have bodies that find no place, where the worker takes no more jobs for that.
    var standstill: Int? { state.withLock { $0.standstill } }

    /// How often the queue was found with less than it had accepted.
    var losses: Int { state.withLock { $0.losses } }
}

extension WorkTally.State {
    /// - Returns: A message about the network that is due.
    mutating func note(_ report: WorkerReport, at now: ContinuousClock.Instant) -> String? {
        counts.note(report)
        switch report {
        case .standstill(let jobs): standstill = jobs
        case .room(let room): lacksRoom = room != .there
        default: break
        }
        return network.note(report, at: now)
    }

    /// Notes the queue's totals. They only grow, while Redis keeps its data.
    /// - Returns: The earlier total of accepted jobs, where the queue has lost some.
    mutating func note(accepted: Int, ended: Int, _ waits: QueueWaits, at now: ContinuousClock.Instant) -> Int? {
        self.waits = waits
        let (last, own) = (queue, counts.ended)
        var whole = ProgressSnapshot.Whole(total: accepted, ended: ended, name: "queue")
        if let last, last.ended < last.total || accepted == ended {
            (whole.endedBefore, whole.ownBefore) = (min(last.endedBefore, ended), last.ownBefore)
        } else if let last {
            // A percentage of all jobs that the queue ever had would say little about the ones that wait now.
            (whole.endedBefore, whole.ownBefore) = (min(last.endedBefore + last.ended, ended), ownSeen)
        } else {
            // The first look comes late where a part of Redis is away. Jobs that this worker has ended by then are no earlier work.
            whole.endedBefore = max(0, ended - own)
        }
        whole.total -= whole.endedBefore
        whole.ended -= whole.endedBefore
        (queue, queueSeen, ownSeen) = (whole, now, own)
        queueRate.note(ended: ended, bytes: 0, at: now)
        guard let last, accepted < last.total + last.endedBefore else { return nil }
        losses += 1
        return last.total + last.endedBefore
    }

    /// - Returns: How many jobs were given up, where it is time to tell it: once a minute.
    mutating func giveUp(_ count: Int, at now: ContinuousClock.Instant) -> Int? {
        givenUp.total += count
        return limit.mayTell("givenUp", at: now) ? untoldGivenUp() : nil
    }

    /// How many jobs were given up, unless all of them were told.
    mutating func untoldGivenUp() -> Int? {
        guard givenUp.total > givenUp.told else { return nil }
        givenUp.told = givenUp.total
        return givenUp.total
    }

    private static let mostHosts = 4

    fileprivate mutating func snapshot(at now: ContinuousClock.Instant, _ seen: ActivitySnapshot) -> ProgressSnapshot {
        var snapshot = ProgressSnapshot()
        snapshot.counts = counts
        let ended = counts.ended
        ownRate.note(ended: ended, bytes: counts.bytes, at: now)
        snapshot.endedPerSecond = ownRate.rate?.endedPerSecond
        snapshot.bytesPerSecond = ownRate.rate?.bytesPerSecond
        snapshot.waits = waits
        snapshot.missing = network.missing(at: now)
        // Jobs that could be taken if there were a place.
        let inLine = queue.map { $0.total - $0.ended - waits.total } ?? 0
        snapshot.heldPlaces = places?.look(at: seen, waiting: inLine - seen.hosts.reduce(0) { $0 + $1.running }, now: now)
        snapshot.slowest = seen.slowest(Self.mostHosts)
        var meter = ownRate
        if let total {
            snapshot.whole = .init(total: total(), ended: ended)
        } else if let queue {
            snapshot.whole = queue
            snapshot.wholeAge = queueSeen.map { max(.zero, now - $0) }
            meter = queueRate
        }
        if let whole = snapshot.whole, whole.ended < whole.total { snapshot.remaining = meter.remaining(open: whole.total - whole.ended) }
        return snapshot
    }
}
