/// The books of a cache: which numbers are taken, the cost of each entry, and which entry goes next. Keys and values lie under the same
/// numbers in `MemoryState`. So the ledger is not generic, and is compiled once for all caches.
///
/// The method is S3-FIFO (Yang et al., SOSP 2023). A new entry goes into the *small* queue. At its end an entry that was asked for goes
/// on to the *main* queue. Any other entry leaves, and only its hash is remembered. An entry that returns while its hash is remembered
/// goes to the main queue at once. At the end of the main queue an entry that was asked for goes round again. So a hit moves nothing, and
/// entries that are asked for only once pass through a small part of the cache. `Ledger+Eviction.swift` lists the differences to the paper.
@usableFromInline
struct Ledger {
    let costLimit: Int
    let countLimit: Int
    var statistics = MemoryCacheStatistics()

    private(set) var entries: ContiguousArray<LedgerEntry> = []
    private var firstFree = EntryNumber.none
    private var index = EntryIndex()
    private var deadlines = DeadlineHeap()

    private(set) var small = EntryQueue()
    private(set) var main = EntryQueue()
    var smallGhosts = GhostTable()
    var mainGhosts = GhostTable()
    var share: SmallShare
    var hasEvicted = false

    /// - Parameters:
    ///   - costLimit: Above zero.
    ///   - countLimit: Above zero, and below `EntryNumber.none`.
    init(costLimit: Int, countLimit: Int) {
        self.costLimit = costLimit
        self.countLimit = countLimit
        share = SmallShare(costLimit: costLimit, countLimit: countLimit)
    }

    var count: Int { small.count + main.count }
    var cost: Int { small.cost + main.cost }

    func hasRoom(for cost: Int) -> Bool { count < countLimit && cost <= costLimit - self.cost }

    func find(_ hash: Int, where isWanted: (EntryNumber) -> Bool) -> EntryNumber? { index.find(hash, where: isWanted) }

    func isExpired(_ number: EntryNumber, at now: Int64) -> Bool {
        let position = entries[Int(number)].deadline
        return position != DeadlineHeap.none && deadlines.deadline(at: position) <= now
    }

    func firstExpired(at now: Int64) -> EntryNumber? { deadlines.firstExpired(at: now) }

    mutating func noteHit(_ number: EntryNumber) {
        if entries[Int(number)].hits < LedgerEntry.mostHits { entries[Int(number)].hits += 1 }
    }

    /// Adds an entry for which there is room.
    mutating func add(_ entry: LedgerEntry, deadline: Int64?) -> EntryNumber {
        let number = take(entry)
        if entry.place == .small { small.append(number, in: &entries) } else { main.append(number, in: &entries) }
        index.add(number, hash: entry.hash)
        if let deadline { deadlines.add(number, deadline, in: &entries) }
        return number
    }

    /// Takes an entry out; returns it.
    @discardableResult
    mutating func remove(_ number: EntryNumber) -> LedgerEntry {
        let position = Int(number)
        if entries[position].deadline != DeadlineHeap.none { deadlines.remove(number, in: &entries) }
        let entry = entries[position]
        index.remove(number, hash: entry.hash)
        if entry.place == .small { small.remove(number, in: &entries) } else { main.remove(number, in: &entries) }
        entries[position].place = .free
        entries[position].next = firstFree
        firstFree = number
        return entry
    }

    /// Moves an entry to the end of the main queue.
    mutating func requeue(_ number: EntryNumber, hits: UInt8) {
        if entries[Int(number)].place == .small { small.remove(number, in: &entries) } else { main.remove(number, in: &entries) }
        entries[Int(number)].place = .main
        entries[Int(number)].hits = hits
        main.append(number, in: &entries)
    }

    private mutating func take(_ entry: LedgerEntry) -> EntryNumber {
        guard firstFree != .none else {
            entries.append(entry)
            return EntryNumber(entries.count - 1)
        }
        let number = firstFree
        firstFree = entries[Int(number)].next
        entries[Int(number)] = entry
        return number
    }
}

// The calls of a cache. Where a call reports the number of an entry that left, its key and value still have to be taken out.
extension Ledger {
    @usableFromInline
    enum Finding {
        case hit(EntryNumber)
        /// The entry was there, but its time was over, and it has left.
        case expired(EntryNumber)
        case miss
    }

    /// Looks up an entry and counts that as a use.
    @usableFromInline
    mutating func lookUp(_ hash: Int, at now: Int64, where isWanted: (EntryNumber) -> Bool) -> Finding {
        guard let number = find(hash, where: isWanted) else {
            statistics.misses &+= 1
            return .miss
        }
        guard !isExpired(number, at: now) else {
            statistics.misses &+= 1
            statistics.expirations &+= 1
            remove(number)
            return .expired(number)
        }
        statistics.hits &+= 1
        noteHit(number)
        return .hit(number)
    }

    @usableFromInline
    func contains(_ hash: Int, at now: Int64, where isWanted: (EntryNumber) -> Bool) -> Bool {
        find(hash, where: isWanted).map { !isExpired($0, at: now) } ?? false
    }

    /// Finds a number for an entry. Room is made before the entry is added, so that the limits hold at every moment.
    /// - Parameters:
    ///   - cost: Not negative, and within the limit.
    ///   - leave: Called with the number of each entry that left, before any of these numbers may be returned.
    @usableFromInline
    mutating func insert(
        hash: Int, cost: Int, deadline: Int64?, at now: Int64, where isWanted: (EntryNumber) -> Bool, leave: (EntryNumber) -> Void
    ) -> EntryNumber {
        var predecessor: LedgerEntry?
        if let number = find(hash, where: isWanted) {
            predecessor = remove(number)
            leave(number)
        }
        while !hasRoom(for: cost) { leave(evict(at: now)) }
        statistics.insertions &+= 1
        // A replaced entry passes its queue and its hits on.
        var entry = LedgerEntry(hash: hash, cost: cost, place: predecessor?.place ?? place(forNew: hash, cost: cost))
        entry.hits = predecessor?.hits ?? 0
        return add(entry, deadline: deadline)
    }

    /// Takes the entry of a key out; returns its number.
    @usableFromInline
    mutating func remove(_ hash: Int, where isWanted: (EntryNumber) -> Bool) -> EntryNumber? {
        guard let number = find(hash, where: isWanted) else { return nil }
        remove(number)
        return number
    }

    @usableFromInline
    mutating func noteRefusal() { statistics.refusals &+= 1 }

    /// Evicts at most `most` entries until the others cost no more than `limit`.
    mutating func trim(toCost limit: Int, atMost most: Int, at now: Int64, leave: (EntryNumber) -> Void) {
        var evicted = 0
        while cost > limit, count > 0, evicted < most {
            leave(evict(at: now))
            evicted += 1
        }
    }

    /// Drops everything but the statistics.
    mutating func removeAll() {
        let statistics = statistics
        self = Ledger(costLimit: costLimit, countLimit: countLimit)
        self.statistics = statistics
    }
}
