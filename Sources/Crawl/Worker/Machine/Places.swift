internal import GannetQueue

/// How many requests a worker has in flight at most.
///
/// A given number stays. Otherwise a worker begins with few places, and doubles them as long as all are in use and the process keeps up. Once its
/// threads have lagged behind, places grow by an eighth, and shrink by an eighth while they lag. More requests than the processor can
/// serve wait in the worker and not at their origins: each takes longer then, and the largest hosts with them.
///
/// Where most requests find no name or no connection, the line or its router may have too many at once. The worker goes back to few places then,
/// as TCP does after a loss. It grows fast to half of the former number, and slowly beyond it.
struct Places {
    typealias Instant = ContinuousClock.Instant

    /// A look at this process and its network.
    struct Sight {
        /// How long things that have happened wait for the process.
        var lag = Duration.zero
        /// The requests that have ended since the last look.
        var ends = RequestEnds()
        /// `nil` where the system does not tell.
        var memory: MemoryRoom?
    }

    /// The number was reduced because of the network.
    private struct Retreat {
        let reason: PlacesBound
        /// Until then, requests that began before it still fail.
        let settled: Instant
        /// From here on, places grow slowly.
        let ceiling: Int
        var nextStep: Instant
    }

    private(set) var count: Int
    /// Why there are no more.
    private(set) var bound: PlacesBound
    private let most: Int
    private let adapts: Bool
    private var hasLagged = false
    private var nextLook: Instant?
    /// The requests that reached their hosts since the places grew last.
    private var reached = 0.0
    private var recent = RequestEnds()
    private var retreat: Retreat?

    static let atFirst = 64
    /// More places come only after answers. Routers for a household have room for this many connections.
    static let mostUnanswered = 1024
    /// Requests take some time to show what they cost.
    static let lookEvery = Duration.milliseconds(200)
    /// With less lag there are more places, and with more there are fewer.
    static let littleLag = Duration.milliseconds(5)
    static let muchLag = Duration.milliseconds(15)
    /// A connection is waited for this long, as a rule, and a name too.
    static let settling = Duration.seconds(15)
    static let slowStep = Duration.seconds(30)

    /// - Parameter most: The given number, or the most that there may ever be.
    init(most: Int, adapts: Bool) {
        self.most = most
        self.adapts = adapts
        count = adapts ? min(most, Self.atFirst) : most
        bound = adapts ? .jobs : .given
    }

    /// Finds more or fewer places right, now and then.
    /// - Parameter used: The requests in flight.
    mutating func look(used: Int, at now: Instant, seeing sight: () -> Sight) {
        guard adapts, nextLook.map({ $0 <= now }) ?? true else { return }
        nextLook = now + Self.lookEvery
        let seen = sight()
        reached += seen.ends.reached
        if mayRetreat(after: seen.ends, used: used, at: now) { return }
        if seen.lag > Self.muchLag {
            hasLagged = true
            shrink(because: .processor)
        } else if seen.memory?.isShort == true {
            shrink(because: .memory)
        } else if used < count {
            bound = .jobs
        } else if seen.lag >= Self.littleLag {
            bound = .processor
        } else {
            grow(within: seen.memory, at: now)
        }
    }

    /// When to look again though nothing may have happened by then: all places are in use, and there may be more.
    func lookDue(used: Int) -> Instant? { adapts && used >= count && count < most ? nextLook : nil }

    private var fewest: Int { min(most, Self.atFirst) }

    private mutating func shrink(because reason: PlacesBound) {
        count = max(fewest, count - count / 8)
        bound = reason
    }

    private mutating func grow(within memory: MemoryRoom?, at now: Instant) {
        var next = min(most, count + (hasLagged ? max(1, count / 8) : count))
        if count == most {
            bound = most < WorkerOptions.mostPlaces ? .files : .most
            return
        }
        bound = .growing
        if count >= Self.mostUnanswered, reached < Double(count / 4) { return }
        if let retreat, next > retreat.ceiling {
            next = max(count, retreat.ceiling)
            if next == count {
                bound = retreat.reason
                guard retreat.nextStep <= now else { return }
                self.retreat?.nextStep = now + Self.slowStep
                next = min(most, count + max(1, count / 8))
            }
        }
        if let memory, next > memory.mostPlaces {
            next = max(count, memory.mostPlaces)
            bound = .memory
        }
        count = next
        reached = 0
    }

    /// True while the network decides on the places.
    private mutating func mayRetreat(after ends: RequestEnds, used: Int, at now: Instant) -> Bool {
        if let retreat, now < retreat.settled {
            recent = RequestEnds()
            return true
        }
        recent = recent.faded + ends
        guard let trouble = recent.trouble else { return false }
        // At the end of a list the requests to its dead hosts are left, which use few places.
        guard count > fewest, 4 * used >= 3 * count else { return count <= fewest && retreat != nil }
        let settled = now + Self.settling
        retreat = Retreat(reason: trouble, settled: settled, ceiling: max(fewest, count / 2), nextStep: settled)
        count = fewest
        bound = trouble
        recent = RequestEnds()
        return true
    }
}

/// How many requests have ended in which way, as far as it tells something of this machine's network.
struct RequestEnds: Equatable {
    /// The host, or its name server, has answered.
    var reached = 0.0
    /// There was no connection to the host.
    var unconnected = 0.0
    /// There was no answer for the host's name.
    var unnamed = 0.0

    private var failed: Double { unconnected + unnamed }

    /// The part of the network that fails; `nil` for a few requests, and while half of them reach their hosts. Up to 12 % of the hosts of a list
    /// are dead.
    var trouble: PlacesBound? {
        guard reached + failed >= 16, failed > reached else { return nil }
        return unnamed > unconnected ? .names : .network
    }

    /// One look later. After four seconds it is a half.
    var faded: Self { Self(reached: reached * 0.967, unconnected: unconnected * 0.967, unnamed: unnamed * 0.967) }

    static func + (one: Self, other: Self) -> Self {
        Self(
            reached: one.reached + other.reached, unconnected: one.unconnected + other.unconnected, unnamed: one.unnamed + other.unnamed)
    }
}
