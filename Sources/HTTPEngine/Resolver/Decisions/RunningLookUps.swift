/// The look-ups that wait or are under way, and who waits for each.
struct RunningLookUps {
    typealias Instant = ContinuousClock.Instant

    /// A look-up that is over.
    struct Ended: Equatable {
        let name: String
        let start: Instant
        /// Who still waits, in the order they came.
        let ids: [UInt64]
    }

    private struct Entry {
        let name: String
        /// In the order they came; those that left are in it until they outnumber the others.
        var ids: [UInt64] = []
        var subscribers = 0
        var lookUp: LookUp?
        var start: Instant?
    }

    private var entries: [UInt64: Entry] = [:]
    private var serials: [String: UInt64] = [:]
    private var lookUpOfID: [UInt64: UInt64] = [:]
    /// Not begun, in the order they came, and those given up meanwhile.
    private var waiting: [UInt64] = []
    private var waitingHead = 0
    private var waitingCount = 0
    /// Begun, in that order, and those ended meanwhile.
    private var begun: [UInt64] = []
    private var begunHead = 0
    private var nextSerial: UInt64 = 1

    var isWaiting: Bool { waitingCount > 0 }

    /// How many are waiting or under way.
    var count: Int { entries.count }

    func isUnderWay(_ serial: UInt64) -> Bool { entries[serial]?.lookUp != nil }

    /// All that are under way, the oldest first.
    var underWay: [UInt64] { entries.filter { $0.value.lookUp != nil }.keys.sorted() }

    /// When the one that has been under way longest began.
    mutating func oldestStart() -> Instant? {
        while begunHead < begun.count {
            if let start = entries[begun[begunHead]]?.start { return start }
            begunHead += 1
        }
        begun.removeAll(keepingCapacity: true)
        begunHead = 0
        return nil
    }

    /// Adds an asker to the look-up of the name, which is put in line when there is none.
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

    /// Takes an asker out. A look-up that nobody waits for is not begun; one that was begun goes on.
    mutating func leave(_ id: UInt64) {
        guard let serial = lookUpOfID.removeValue(forKey: id), let name = entries[serial]?.name else { return }
        entries[serial]?.subscribers -= 1
        guard entries[serial]?.subscribers == 0, entries[serial]?.lookUp == nil else { return }
        entries[serial] = nil
        serials[name] = nil
        waitingCount -= 1
    }

    /// The first in line, which must be started.
    mutating func nextWaiting() -> (serial: UInt64, name: String)? {
        while waitingHead < waiting.count {
            let serial = waiting[waitingHead]
            waitingHead += 1
            if let name = entries[serial]?.name { return (serial, name) }
        }
        waiting.removeAll(keepingCapacity: false)
        waitingHead = 0
        return nil
    }

    mutating func start(_ serial: UInt64, _ lookUp: LookUp, at now: Instant) {
        entries[serial]?.lookUp = lookUp
        entries[serial]?.start = now
        waitingCount -= 1
        if begun.count > 2 * (entries.count - waitingCount) + 64 {
            begun = begun[begunHead...].filter { entries[$0] != nil }
            begunHead = 0
        }
        begun.append(serial)
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
        // One who left and came back may stand there twice.
        let ids = entry.ids.filter { lookUpOfID[$0] == serial && lookUpOfID.removeValue(forKey: $0) != nil }
        return Ended(name: entry.name, start: start, ids: ids)
    }

    private mutating func enqueue(_ name: String) -> UInt64 {
        let serial = nextSerial
        nextSerial += 1
        serials[name] = serial
        entries[serial] = Entry(name: name)
        if waiting.count > 2 * waitingCount + 64 {
            waiting = waiting[waitingHead...].filter { entries[$0] != nil }
            waitingHead = 0
        }
        waiting.append(serial)
        waitingCount += 1
        return serial
    }
}
