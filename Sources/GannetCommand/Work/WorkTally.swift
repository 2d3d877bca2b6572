import Gannet
internal import Threads

/// Counts what a worker reports and says what people should hear at once.
final class WorkTally: Sendable {
    fileprivate struct State {
        var fetched = 0
        /// Fetched for another job, not for this one.
        var cached = 0
        var failed = 0
        var bytes = 0
        var lost = 0
        var complaints = 0
        var classes: [String: Int] = [:]
        var whole: Whole?
        var queue: (accepted: Int, ended: Int)?
        var waits = QueueWaits()
        var givenUp = RareCount()
        var places: PlacesWatch?
        var ownRate = RateMeter()
        var queueRate = RateMeter()
    }

    /// Failures told one by one; the rest are a number. Ten thousand lines about one dead host help nobody.
    private static let mostComplaints = 20

    private let state = Mutex(State())
    private let console: Console
    private let watch: RedisWatch
    private let network: NetworkWatch
    private let start = ContinuousClock.now

    /// What the worker does at each host.
    let activity = WorkerActivity()

    private let places: Int?

    /// Classes of failures that are counted; what a server may answer is limited, and so is this.
    private static let mostClasses = 100

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
        switch report {
        case .fetched(let url, let bytes, let file):
            state.withLock { state in
                state.fetched += 1
                state.bytes += bytes
            }
            console.detail("fetched \(url) (\(Amounts.bytes(bytes)))\(file.map { " as \($0)" } ?? "")")
        case .revalidated(let url, let file):
            state.withLock { $0.cached += 1 }
            console.detail("\(url) is as it was\(file.map { ", as \($0)" } ?? "")")
        case .cached(let url, let file):
            state.withLock { $0.cached += 1 }
            console.detail("\(url) is there already\(file.map { ", as \($0)" } ?? "")")
        case .bodyMissing(let url):
            console.detail("\(url) was fetched, but not into this folder: it is fetched again")
        case .putOff(_, let sentence, let pause, let want):
            if let want { network.note(want) }
            console.detail("will be tried again \(pause.map { "in \(Amounts.time($0))" } ?? "after a pause"): \(sentence)")
        case .failed(_, let sentence, let errorClass):
            let isTold = state.withLock { state in
                state.failed += 1
                state.note(1, of: errorClass, most: Self.mostClasses)
                return tells(&state)
            }
            if isTold || console.verbosity == .verbose { console.error(text: "failed: \(sentence)") }
        case .lost(let url):
            state.withLock { $0.lost += 1 }
            console.detail("lost the lease on \(url): another worker has it")
        case .handedBack(let url):
            console.detail("handed back \(url)")
        case .stopping(let active, let limit):
            console.note(
                "stopping; \(Amounts.count(active, "URL")) in flight may end within \(Amounts.time(limit)). Stop again to leave at once.")
        case .left(let url):
            console.detail("left \(url): it can be claimed again when its lease ends")
        case .givenUp(let count):
            let total = state.withLock { state in
                state.failed += count
                state.note(count, of: "unfetched", most: Self.mostClasses)
                return state.givenUp.add(count, at: .now)
            }
            if let total { tellGivenUp(total) }
        case .progress(let accepted, let ended, let waits):
            state.withLock { state in
                state.waits = waits
                state.queue = (accepted, ended)
                state.queueRate.note(ended: ended, bytes: 0, at: .now)
            }
        case .foreign:
            console.error(text: "gannet: what is left in the queue is of another version, for a newer worker to take")
        case .redis(let outage):
            watch.note(outage)
        }
    }

    /// Says how many failures were not told one by one.
    func finish() {
        if let total = state.withLock({ $0.givenUp.rest() }) { tellGivenUp(total) }
        let untold = state.withLock { max(0, $0.complaints - Self.mostComplaints) }
        guard untold > 0, console.verbosity != .verbose else { return }
        console.error(text: "… and \(Amounts.count(untold, "further failure")); '--verbose' tells of each")
    }

    private func tellGivenUp(_ total: Int) {
        console.error(
            text:
                "failed: \(Amounts.count(total, "URL")) so far given up unasked: what came of the same URL or its host before, or that it left three workers dead, stands against it; 'gannet jobs list --state dead' says which"
        )
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

    private func tells(_ state: inout State) -> Bool {
        state.complaints += 1
        return state.complaints <= Self.mostComplaints
    }
}

extension WorkTally.State {
    fileprivate mutating func note(_ count: Int, of errorClass: String, most: Int) {
        if classes[errorClass] == nil, classes.count >= most { return }
        classes[errorClass, default: 0] += count
    }

    fileprivate mutating func snapshot(at now: ContinuousClock.Instant) -> ProgressSnapshot {
        ownRate.note(ended: fetched + cached + failed, bytes: bytes, at: now)
        var snapshot = ProgressSnapshot()
        snapshot.fetched = fetched
        snapshot.cached = cached
        snapshot.failed = failed
        snapshot.bytes = bytes
        snapshot.failures = classes.map { (errorClass: $0.key, count: $0.value) }
            .sorted { ($0.count, $1.errorClass) > ($1.count, $0.errorClass) }
        snapshot.endedPerSecond = ownRate.rate?.endedPerSecond
        snapshot.bytesPerSecond = ownRate.rate?.bytesPerSecond
        snapshot.waits = waits
        snapshot.inLine = queue.map { $0.accepted - $0.ended - waits.total } ?? 0
        var meter = ownRate
        if let whole {
            let ended = whole.done + whole.failed + fetched + cached + failed
            snapshot.whole = .init(total: whole.total, ended: ended)
        } else if let queue {
            snapshot.whole = .init(total: queue.accepted, ended: queue.ended, name: "queue")
            meter = queueRate
        }
        if let whole = snapshot.whole, whole.ended < whole.total { snapshot.remaining = meter.remaining(open: whole.total - whole.ended) }
        return snapshot
    }
}
