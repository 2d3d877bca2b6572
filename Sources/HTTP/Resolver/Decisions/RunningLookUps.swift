/// The look-ups that wait or are under way, and the ids that wait for each.
struct RunningLookUps {
    typealias Instant = ContinuousClock.Instant

    /// A look-up that is over.
    struct Ended: Equatable {
        let name: String
        let start: Instant
        /// The ids that still wait, in the order they came.
        let ids: [UInt64]
    }

    private struct Entry {
        let name: String
        /// In the order they came. Ids that left stay in it until they outnumber the others.
        var ids: [UInt64] = []
        var subscribers = 0
        var lookUp: LookUp?
        var start: Instant?
    }

    private var entries: [UInt64: Entry] = [:]
    private var serials: [String: UInt64] = [:]
    private var lookUpOfID: [UInt64: UInt64] = [:]
    /// Not begun, in the order they came.
    private var waiting = SweptQueue<UInt64>()
    private var waitingCount = 0
    /// Begun, in that order.
    private var begun = SweptQueue<UInt64>()
    private var nextSerial: UInt64 = 1

    var isWaiting: Bool { waitingCount > 0 }

    /// How many are waiting or under way.
    var count: Int { entries.count }

    func isUnderWay(_ serial: UInt64) -> Bool { entries[serial]?.lookUp != nil }

    /// The look-ups that are under way, the oldest first.
    var underWay: [UInt64] { entries.filter { $0.value.lookUp != nil }.keys.sorted() }

    /// When the oldest look-up under way began.
    mutating func oldestStart() -> Instant? {
        begun.skipEnded { [entries] in entries[$0]?.start != nil }
        return begun.first.flatMap { entries[$0]?.start }
    }

    /// Adds an id to the look-up of the name. A name without a look-up is put in the queue.
    mutating func join(_ name: String, id: UInt64) {
        leave(id)
        let serial = serials[name] ?? enqueue(name)
        lookUpOfID[id] = serial
        guard var entry = entries.removeValue(forKey: serial) else { return }
        if entry.ids.count > 2 * entry.subscribers + 16 { entry.ids.removeAll { lookUpOfID[$0] != serial } }
        entry.ids.append(id)
        entry.subscribers += 1
        entries[serial] = entry
    }

    /// Takes an id out. A look-up without ids is not begun. When it was begun, it goes on.
    mutating func leave(_ id: UInt64) {
        guard let serial = lookUpOfID.removeValue(forKey: id), let name = entries[serial]?.name else { return }
        entries[serial]?.subscribers -= 1
        guard entries[serial]?.subscribers == 0, entries[serial]?.lookUp == nil else { return }
        entries[serial] = nil
        serials[name] = nil
        waitingCount -= 1
    }

    /// The first one in the queue, which the caller must start.
    mutating func nextWaiting() -> (serial: UInt64, name: String)? {
        while let serial = waiting.popFirst() {
            if let name = entries[serial]?.name { return (serial, name) }
        }
        return nil
    }

    mutating func start(_ serial: UInt64, _ lookUp: LookUp, at now: Instant) {
        entries[serial]?.lookUp = lookUp
        entries[serial]?.start = now
        waitingCount -= 1
        begun.append(serial, living: entries.count - waitingCount) { [entries] in entries[$0] != nil }
    }

    /// Changes a look-up that is under way; nil when it is not.
    mutating func update<Result>(_ serial: UInt64, _ change: (inout LookUp) -> Result) -> Result? {
        guard let index = entries.index(forKey: serial), entries.values[index].lookUp != nil else { return nil }
        return change(&entries.values[index].lookUp!)
    }

    mutating func end(_ serial: UInt64) -> Ended? {
        guard let entry = entries[serial], let start = entry.start else { return nil }
        entries[serial] = nil
        serials[entry.name] = nil
        // An id that left and came back may be there twice.
        let ids = entry.ids.filter { lookUpOfID[$0] == serial && lookUpOfID.removeValue(forKey: $0) != nil }
        return Ended(name: entry.name, start: start, ids: ids)
    }

    private mutating func enqueue(_ name: String) -> UInt64 {
        let serial = nextSerial
        nextSerial += 1
        serials[name] = serial
        entries[serial] = Entry(name: name)
        waitingCount += 1
        waiting.append(serial, living: waitingCount) { [entries] in entries[$0] != nil }
        return serial
    }
}
