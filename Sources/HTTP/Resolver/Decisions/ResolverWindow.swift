/// Which look-ups may be under way: few young ones, so that the name servers are not flooded, and many in all. A look-up without an answer
/// after a moment most likely gets none, and must not hold up the next.
struct ResolverWindow {
    typealias Instant = ContinuousClock.Instant

    private let maximum: Int
    private let maximumFresh: Int
    private let freshness: Duration
    private var underWay: Set<UInt64> = []
    private var fresh: Set<UInt64> = []
    private var ageing = DueQueue()

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

    /// When there will be room if no look-up ends before; nil when that does not depend on time.
    var nextRoom: Instant? { underWay.count < maximum ? ageing.first?.due : nil }

    mutating func start(_ serial: UInt64, at now: Instant) {
        underWay.insert(serial)
        fresh.insert(serial)
        ageing.append((serial, now + freshness), living: fresh.count) { [fresh] in fresh.contains($0.serial) }
    }

    mutating func end(_ serial: UInt64) {
        underWay.remove(serial)
        fresh.remove(serial)
        ageing.skipEnded { [fresh] in fresh.contains($0.serial) }
    }
}
