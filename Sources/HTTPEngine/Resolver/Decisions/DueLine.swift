/// Look-ups in the order in which something is due for each, all after the same delay: a timer for any number of them.
///
/// Those that have ended stay in it until their time, or until they outnumber the others.
struct DueLine {
    typealias Instant = ContinuousClock.Instant

    private var entries: [(serial: UInt64, due: Instant)] = []
    private var head = 0

    /// When the first is due; it may have ended.
    var nextDue: Instant? { head < entries.count ? entries[head].due : nil }

    /// How many places it takes, those that have ended included.
    var length: Int { entries.count }

    /// Adds one at the end. `isAlive` tells of the others which still matter, and `living` how many may.
    mutating func append(_ serial: UInt64, due: Instant, living: Int, isAlive: (UInt64) -> Bool) {
        entries.append((serial, due))
        guard entries.count > 2 * living + 64 else { return }
        entries = entries[head...].filter { isAlive($0.serial) }
        head = 0
    }

    mutating func popDue(at now: Instant) -> UInt64? {
        guard head < entries.count, entries[head].due <= now else { return nil }
        defer { dropFirst() }
        return entries[head].serial
    }

    /// Makes the first one that has not ended the next that is due: nobody need wake for the others.
    mutating func skipEnded(isAlive: (UInt64) -> Bool) {
        while head < entries.count, !isAlive(entries[head].serial) { dropFirst() }
    }

    private mutating func dropFirst() {
        head += 1
        guard head == entries.count else { return }
        entries.removeAll(keepingCapacity: true)
        head = 0
    }
}
