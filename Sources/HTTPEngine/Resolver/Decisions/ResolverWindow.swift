/// Which look-ups may be under way: few young ones, so that the name servers are not flooded, and many in all, since one that has not
/// been answered in a moment most likely never will, and must not keep the next from being asked.
struct ResolverWindow {
    typealias Instant = ContinuousClock.Instant

    private let maximum: Int
    private let maximumFresh: Int
    private let freshness: Duration
    private var underWay: Set<UInt64> = []
    private var fresh: Set<UInt64> = []
    private var ageing = DueLine()

    init(maximum: Int, maximumFresh: Int, freshness: Duration) {
        self.maximum = maximum
        self.maximumFresh = maximumFresh
        self.freshness = freshness
    }

    var count: Int { underWay.count }

    /// Whether one more may start.
    mutating func hasRoom(at now: Instant) -> Bool {
        while let serial = ageing.popDue(at: now) { fresh.remove(serial) }
        return underWay.count < maximum && fresh.count < maximumFresh
    }

    /// When there will be room if nothing ends before; nil when that does not depend on time.
    var nextRoom: Instant? { underWay.count < maximum ? ageing.nextDue : nil }

    mutating func start(_ serial: UInt64, at now: Instant) {
        underWay.insert(serial)
        fresh.insert(serial)
        ageing.append(serial, due: now + freshness, living: fresh.count) { [fresh] in fresh.contains($0) }
    }

    mutating func end(_ serial: UInt64) {
        underWay.remove(serial)
        fresh.remove(serial)
        ageing.skipEnded { [fresh] in fresh.contains($0) }
    }
}
