/// The entries of a cache by number and hash, and the order in which they make room. Keys and values lie under the same numbers in
/// `MemoryState`. So this is not generic, and is compiled once for all caches.
///
/// The method is S3-FIFO (Yang et al., SOSP 2023). A new entry goes into the *small* queue. At its end an entry that was asked for goes
/// on to the *main* queue. Any other entry leaves, and only its hash is remembered. An entry that returns while its hash is remembered
/// goes to the main queue at once. At the end of the main queue an entry that was asked for goes round again. So a hit moves nothing, and
/// entries that are asked for only once pass through a small part of the cache.
///
/// There are four additions to the paper. Each measured better (`Scripts/bench cache`) or bounds the work:
///
/// - The small queue's share follows the requests: see `moveShare`. For this, hashes of the main queue are remembered too.
/// - Before the first eviction, an entry beyond the small queue's share goes to the main queue, where it pushes nothing out.
/// - A large entry takes the place of many. When it returns, it goes to the small queue like a new one.
/// - An eviction spares at most 256 entries, so that a caller never waits for a whole round.
@usableFromInline
struct EvictionOrder {
    private let costLimit: Int
    private let countLimit: Int
    private(set) var entries: ContiguousArray<Entry> = []
    private var unused: [EntryNumber] = []
    /// Numbers, each at the place of its hash or behind it. The table is half full at most. A dictionary would take more memory, and
    /// hash and hold each key a second time.
    private var places = ContiguousArray(repeating: EntryNumber.none, count: 16)
    private var deadlines = DeadlineHeap()
    private(set) var small = EntryQueue()
    private(set) var main = EntryQueue()
    private var smallGhosts = GhostTable()
    private var mainGhosts = GhostTable()
    private(set) var share = 0.1
    private var hasEvicted = false
    @usableFromInline var statistics = MemoryCacheStatistics()

    /// Both limits are above zero.
    init(costLimit: Int, countLimit: Int) {
        self.costLimit = costLimit
        self.countLimit = countLimit
    }

    var count: Int { small.count + main.count }
    var cost: Int { small.cost + main.cost }

    @usableFromInline
    func find(_ hash: Int, where isWanted: (EntryNumber) -> Bool) -> EntryNumber? {
        var place = hash & (places.count - 1)
        while places[place] != .none {
            let number = places[place]
            if entries[Int(number)].hash == hash, isWanted(number) { return number }
            place = (place + 1) & (places.count - 1)
        }
        return nil
    }

    @usableFromInline
    func isExpired(_ number: EntryNumber, at now: Int64) -> Bool {
        let position = entries[Int(number)].deadline
        return position != .none && deadlines[position] <= now
    }

    @usableFromInline
    mutating func noteHit(_ number: EntryNumber) {
        statistics.hits &+= 1
        if entries[Int(number)].hits < 3 { entries[Int(number)].hits += 1 }
    }

    /// Adds an entry. An entry that it replaces has left already, and passes its queue and its hits on.
    @usableFromInline
    mutating func add(hash: Int, cost: Int, deadline: Int64?, replacing old: Entry?) -> EntryNumber {
        let number = unused.popLast() ?? EntryNumber(entries.count)
        let entry = Entry(hash: hash, cost: cost, isMain: old?.isMain ?? beginsInMain(hash, cost: cost), hits: old?.hits ?? 0)
        if Int(number) == entries.count { entries.append(entry) } else { entries[Int(number)] = entry }
        if 2 * count >= places.count { growPlaces() }
        put(number)
        append(number)
        if let deadline { deadlines.add(number, deadline, in: &entries) }
        statistics.insertions &+= 1
        return number
    }

    @usableFromInline
    @discardableResult
    mutating func remove(_ number: EntryNumber) -> Entry {
        unlink(number)
        let entry = entries[Int(number)]
        if entry.deadline != .none { deadlines.remove(number, in: &entries) }
        unused.append(number)
        let mask = places.count - 1
        var hole = entry.hash & mask
        while places[hole] != number { hole = (hole + 1) & mask }
        // Later numbers move up into the hole, except those whose search begins behind it.
        var place = (hole + 1) & mask
        while places[place] != .none {
            if (place &- entries[Int(places[place])].hash) & mask >= (place - hole) & mask {
                places[hole] = places[place]
                hole = place
            }
            place = (place + 1) & mask
        }
        places[hole] = .none
        return entry
    }

    private mutating func put(_ number: EntryNumber) {
        var place = entries[Int(number)].hash & (places.count - 1)
        while places[place] != .none { place = (place + 1) & (places.count - 1) }
        places[place] = number
    }

    private mutating func growPlaces() {
        let old = places
        places = ContiguousArray(repeating: .none, count: 2 * old.count)
        for number in old where number != .none { put(number) }
    }

    /// Takes out the entry whose turn it is, if there is no room.
    @usableFromInline
    mutating func makeRoom(for cost: Int, at now: Int64) -> EntryNumber? {
        count < countLimit && cost <= costLimit - self.cost ? nil : evict(at: now)
    }

    /// Takes out the entry whose turn it is. There is at least one.
    mutating func evict(at now: Int64) -> EntryNumber {
        if let number = deadlines.firstExpired(at: now) {
            remove(number)
            statistics.expirations &+= 1
            return number
        }
        statistics.evictions &+= 1
        hasEvicted = true
        var spared = 0
        while true {
            let fromSmall = main.count == 0 || small.count > 0 && isSmallFull
            let number = fromSmall ? small.first : main.first
            let hits = entries[Int(number)].hits
            guard hits > 0, spared < 256 else {
                // As many as the main queue has: with more, entries that return too seldom would be let in.
                let entry = remove(number)
                if fromSmall { smallGhosts.add(entry.hash, limit: main.count) } else { mainGhosts.add(entry.hash, limit: main.count / 2) }
                return number
            }
            // An entry that goes on to the main queue has to be asked for again to stay.
            unlink(number)
            entries[Int(number)].hits = fromSmall ? 0 : hits - 1
            entries[Int(number)].isMain = true
            append(number)
            spared += 1
        }
    }

    mutating func removeAll() {
        let statistics = statistics
        self = EvictionOrder(costLimit: costLimit, countLimit: countLimit)
        self.statistics = statistics
    }

    private mutating func append(_ number: EntryNumber) {
        if entries[Int(number)].isMain { main.append(number, in: &entries) } else { small.append(number, in: &entries) }
    }

    private mutating func unlink(_ number: EntryNumber) {
        if entries[Int(number)].isMain { main.remove(number, in: &entries) } else { small.remove(number, in: &entries) }
    }

    var isSmallFull: Bool {
        Double(small.cost) > share * Double(costLimit) || Double(small.count) > share * Double(countLimit)
    }

    /// Whether a new entry begins in the main queue.
    private mutating func beginsInMain(_ hash: Int, cost: Int) -> Bool {
        if let age = smallGhosts.remove(hash, limit: main.count) {
            moveShare(1, by: cost, age: age)
        } else if let age = mainGhosts.remove(hash, limit: main.count / 2) {
            moveShare(-1, by: cost, age: age)
        } else {
            return !hasEvicted && isSmallFull
        }
        return count == 0 || cost / 4 <= self.cost / count
    }

    /// An entry that returns soon after it left the small queue would have been a hit in a slightly larger one. The same holds for the main
    /// queue. Each such return moves the border by the cost of the entry. Where every new entry is asked for once more (a page's images)
    /// the small queue grows. Where few entries are ever asked for again it shrinks.
    ///
    /// The age is counted in evictions from the same queue. A return within two in a hundred of the entries counts in full. A later one
    /// counts less, by the square of its age: it would need a much larger queue, at the cost of the other.
    mutating func moveShare(_ direction: Double, by cost: Int, age: Int) {
        let nearness = min(1, max(1, 0.02 * Double(count)) / Double(age))
        let step = max(Double(cost) / Double(costLimit), 1 / Double(countLimit)) * nearness * nearness
        // At most half, so that a scan never takes more than half of the cache.
        share = min(max(share + direction * step, 0.01), 0.5)
    }
}
