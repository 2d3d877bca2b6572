/// What the lock of a `MemoryCache` guards: the books, and under the same numbers the keys and values.
///
/// Nothing is freed here. What leaves is handed out, to be freed when the lock is open again.
struct MemoryStore<Key: Hashable & Sendable, Value: Sendable> {
    typealias Entry = CacheEntry<Key, Value>

    enum Finding {
        case hit(Value)
        case miss
        case expired(Leftovers<Key, Value>)
    }

    private var ledger: Ledger
    private var entries: ContiguousArray<Entry?> = []
    private(set) var statistics = MemoryCacheStatistics()

    /// - Parameters: As Ledger's.
    init(costLimit: Int, countLimit: Int) {
        ledger = Ledger(costLimit: costLimit, countLimit: countLimit)
    }

    var count: Int { ledger.count }
    var cost: Int { ledger.cost }

    mutating func find(_ key: Key, hash: Int, at now: Int64) -> Finding {
        guard let number = number(of: key, hash: hash) else {
            statistics.misses += 1
            return .miss
        }
        if ledger.isExpired(number, at: now) {
            statistics.misses += 1
            statistics.expirations += 1
            ledger.remove(number)
            var leftovers = Leftovers<Key, Value>()
            leftovers.add(takeEntry(number))
            return .expired(leftovers)
        }
        statistics.hits += 1
        ledger.touch(number)
        return entries[Int(number)].map { .hit($0.value) } ?? .miss
    }

    func contains(_ key: Key, hash: Int, at now: Int64) -> Bool {
        number(of: key, hash: hash).map { !ledger.isExpired($0, at: now) } ?? false
    }

    /// Room is made before the entry is added, so that the limits hold at every moment.
    mutating func insert(_ entry: Entry, hash: Int, cost: Int, deadline: Int64?, at now: Int64) -> Leftovers<Key, Value> {
        var leftovers = Leftovers<Key, Value>()
        var predecessor: Slot?
        if let number = number(of: entry.key, hash: hash) {
            predecessor = ledger.remove(number)
            leftovers.add(takeEntry(number))
        }
        while !ledger.hasRoom(for: cost) { evict(at: now, to: &leftovers) }
        let number = ledger.add(hash: hash, cost: cost, deadline: deadline, replacing: predecessor)
        if Int(number) == entries.count { entries.append(entry) } else { entries[Int(number)] = entry }
        statistics.insertions += 1
        return leftovers
    }

    /// Notes that a value was not taken in, and drops the one it should have replaced.
    mutating func refuse(_ key: Key, hash: Int) -> Entry? {
        statistics.refusals += 1
        return remove(key, hash: hash)
    }

    mutating func remove(_ key: Key, hash: Int) -> Entry? {
        guard let number = number(of: key, hash: hash) else { return nil }
        ledger.remove(number)
        return takeEntry(number)
    }

    /// Forgets everything but the statistics.
    mutating func removeAll() -> (ContiguousArray<Entry?>, Ledger) {
        let everything = (entries, ledger)
        entries = []
        ledger = Ledger(costLimit: ledger.costLimit, countLimit: ledger.countLimit)
        return everything
    }

    /// Evicts until no more than `limit` is left, but no more entries than so many.
    mutating func trim(toCost limit: Int, atMost count: Int, at now: Int64) -> Leftovers<Key, Value> {
        var leftovers = Leftovers<Key, Value>()
        var evicted = 0
        while ledger.cost > limit, ledger.count > 0, evicted < count {
            evict(at: now, to: &leftovers)
            evicted += 1
        }
        return leftovers
    }

    /// The keys in a range of the slots, and where the next range begins, if there is one.
    func keys(from start: Int, atMost count: Int) -> (keys: [Key], next: Int?) {
        let end = min(entries.count, start + count)
        guard start < end else { return ([], nil) }
        return (entries[start..<end].compactMap { $0?.key }, end < entries.count ? end : nil)
    }

    private func number(of key: Key, hash: Int) -> SlotNumber? {
        ledger.find(hash) { entries[Int($0)]?.key == key }
    }

    private mutating func evict(at now: Int64, to leftovers: inout Leftovers<Key, Value>) {
        switch ledger.evict(at: now) {
        case .evicted(let number):
            statistics.evictions += 1
            leftovers.add(takeEntry(number))
        case .expired(let number):
            statistics.expirations += 1
            leftovers.add(takeEntry(number))
        }
    }

    private mutating func takeEntry(_ number: SlotNumber) -> Entry? { entries[Int(number)].take() }
}
