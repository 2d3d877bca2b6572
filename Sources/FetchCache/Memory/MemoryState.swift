/// What the lock of a `MemoryCache` guards: the books, and under the same numbers the keys and values.
///
/// Nothing is freed here. What leaves is handed out, to be freed when the lock is open again.
@usableFromInline
struct MemoryState<Key: Hashable & Sendable, Value: Sendable> {
    @usableFromInline typealias Entry = CacheEntry<Key, Value>
    @usableFromInline typealias Departed = Leftovers<Key, Value>

    @usableFromInline var ledger: Ledger
    /// By slot.
    @usableFromInline var entries: ContiguousArray<Entry?> = []

    init(_ ledger: Ledger) { self.ledger = ledger }

    @inlinable
    mutating func value(for key: Key, hash: Int, at now: Int64, _ leftovers: inout Departed) -> Value? {
        switch ledger.lookUp(hash, at: now, where: { entries[Int($0)]?.key == key }) {
        case .hit(let slot): return entries[Int(slot)]?.value
        case .expired(let slot): leftovers.add(entries[Int(slot)].take())
        case .miss: break
        }
        return nil
    }

    @inlinable
    func contains(_ key: Key, hash: Int, at now: Int64) -> Bool {
        ledger.contains(hash, at: now) { entries[Int($0)]?.key == key }
    }

    @inlinable
    mutating func insert(_ entry: Entry, hash: Int, cost: Int, deadline: Int64?, at now: Int64, _ leftovers: inout Departed) {
        let slot = ledger.insert(
            hash: hash, cost: cost, deadline: deadline, at: now, where: { entries[Int($0)]?.key == entry.key },
            leave: { leftovers.add(entries[Int($0)].take()) })
        if Int(slot) == entries.count { entries.append(entry) } else { entries[Int(slot)] = entry }
    }

    @inlinable
    mutating func remove(_ key: Key, hash: Int) -> Entry? {
        guard let slot = ledger.remove(hash, where: { entries[Int($0)]?.key == key }) else { return nil }
        return entries[Int(slot)].take()
    }

    mutating func removeAll() -> ContiguousArray<Entry?> {
        var everything: ContiguousArray<Entry?> = []
        swap(&everything, &entries)
        ledger.removeAll()
        return everything
    }

    /// Evicts until no more than `limit` is left, but no more entries than so many.
    mutating func trim(toCost limit: Int, atMost most: Int, at now: Int64) -> Departed {
        var leftovers = Departed()
        ledger.trim(toCost: limit, atMost: most, at: now) { leftovers.add(entries[Int($0)].take()) }
        return leftovers
    }

    /// The keys in so many slots, and where the next ones begin, if there are more.
    func keys(from start: Int, atMost most: Int) -> (keys: [Key], next: Int?) {
        let end = min(start + most, entries.count)
        guard start < end else { return ([], nil) }
        return (entries[start..<end].compactMap { $0?.key }, end)
    }
}
