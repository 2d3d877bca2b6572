/// The look-ups that wait or are under way, and the ids that wait for each.
///
/// Few young ones may be under way, so that the name servers are not flooded, and many in all. A look-up without an answer after a moment
/// most likely gets none, and must not hold up the next.
struct RunningLookUps {
    typealias Instant = ContinuousClock.Instant

    /// A name that is looked up.
    final class Entry {
        let name: String
        /// Set while it is under way.
        var lookUp: LookUp?
        fileprivate(set) var start: Instant
        /// In the order they came. Ids that left stay in it until they outnumber the others.
        fileprivate var ids: [UInt64] = []
        fileprivate var subscribers = 0
        fileprivate var isYoung = false
        fileprivate var isOver = false

        fileprivate init(_ name: String, at now: Instant) { (self.name, start) = (name, now) }
    }

    private let maximum: Int
    private let maximumFresh: Int
    private let freshness: Duration
    private var names: [String: Entry] = [:]
    private var entryOfID: [UInt64: Entry] = [:]
    /// Not begun, in the order they came.
    private var waiting = SweptQueue<Entry>()
    private var waitingCount = 0
    /// Begun, in that order; and the young ones of these.
    private var begun = SweptQueue<Entry>()
    private var young = SweptQueue<Entry>()
    private var youngCount = 0

    init(maximum: Int, maximumFresh: Int, freshness: Duration) {
        (self.maximum, self.maximumFresh, self.freshness) = (maximum, maximumFresh, freshness)
    }

    /// How many are waiting or under way.
    var count: Int { names.count }

    var underWayCount: Int { names.count - waitingCount }

    var underWay: [Entry] { names.values.filter { $0.lookUp != nil } }

    /// The look-up under way that began first.
    var oldest: Entry? { begun.first }

    /// When one that waits may begin if no look-up ends before; nil when that does not depend on time.
    var nextRoom: Instant? { waitingCount > 0 && underWayCount < maximum ? young.first.map { $0.start + freshness } : nil }

    /// Adds an id to the look-up of the name. A name without a look-up is put in the queue.
    mutating func join(_ name: String, id: UInt64, at now: Instant) {
        leave(id)
        let entry = names[name] ?? enqueue(name, at: now)
        entryOfID[id] = entry
        if entry.ids.count > 2 * entry.subscribers + 16 { entry.ids.removeAll { entryOfID[$0] !== entry } }
        entry.ids.append(id)
        entry.subscribers += 1
    }

    /// Takes an id out. A look-up without ids is not begun. When it was begun, it goes on.
    mutating func leave(_ id: UInt64) {
        guard let entry = entryOfID.removeValue(forKey: id) else { return }
        entry.subscribers -= 1
        guard entry.subscribers == 0, entry.lookUp == nil else { return }
        entry.isOver = true
        names[entry.name] = nil
        waitingCount -= 1
    }

    /// Begins the first one in the queue, if there is room.
    mutating func begin(at now: Instant, _ lookUp: (String) -> LookUp) -> Entry? {
        while let first = young.first, first.start + freshness <= now {
            grows(first)
            young.skipEnded { $0.isYoung }
        }
        guard underWayCount < maximum, youngCount < maximumFresh else { return nil }
        while let entry = waiting.popFirst() {
            if entry.isOver { continue }
            entry.lookUp = lookUp(entry.name)
            (entry.start, entry.isYoung) = (now, true)
            waitingCount -= 1
            youngCount += 1
            begun.append(entry, living: underWayCount) { !$0.isOver }
            young.append(entry, living: youngCount) { $0.isYoung }
            return entry
        }
        return nil
    }

    /// Ends a look-up that is under way. Answers the ids that still wait, in the order they came.
    mutating func end(_ entry: Entry) -> [UInt64] {
        (entry.isOver, entry.lookUp) = (true, nil)
        grows(entry)
        names[entry.name] = nil
        begun.skipEnded { !$0.isOver }
        young.skipEnded { $0.isYoung }
        // An id that left and came back may be there twice.
        return entry.ids.filter { entryOfID[$0] === entry && entryOfID.removeValue(forKey: $0) != nil }
    }

    private mutating func grows(_ entry: Entry) {
        if entry.isYoung { youngCount -= 1 }
        entry.isYoung = false
    }

    private mutating func enqueue(_ name: String, at now: Instant) -> Entry {
        let entry = Entry(name, at: now)
        names[name] = entry
        waitingCount += 1
        waiting.append(entry, living: waitingCount) { !$0.isOver }
        return entry
    }
}
