internal import Synchronization

/// The state behind the lock of a `MemoryCache`: the ledger, and keys and values under the ledger's numbers.
///
/// Nothing is freed here. Entries that leave are handed out, and freed when the lock is open again.
@usableFromInline
struct MemoryState<Key: Hashable & Sendable, Value: Sendable> {
    @usableFromInline typealias Entry = (key: Key, value: Value)

    @usableFromInline var ledger: Ledger
    /// By the ledger's numbers.
    @usableFromInline var entries: ContiguousArray<Entry?> = []

    init(_ ledger: Ledger) { self.ledger = ledger }

    @inlinable
    mutating func value(for key: Key, hash: Int, at now: Int64, _ leftovers: inout Leftovers<Key, Value>) -> Value? {
        switch ledger.lookUp(hash, at: now, where: { entries[Int($0)]?.key == key }) {
        case .hit(let number): return entries[Int(number)]?.value
        case .expired(let number): leftovers.add(entries[Int(number)].take())
        case .miss: break
        }
        return nil
    }

    @inlinable
    func contains(_ key: Key, hash: Int, at now: Int64) -> Bool {
        ledger.contains(hash, at: now) { entries[Int($0)]?.key == key }
    }

    @inlinable
    mutating func insert(_ entry: Entry, hash: Int, cost: Int, deadline: Int64?, at now: Int64, _ leftovers: inout Leftovers<Key, Value>) {
        let number = ledger.insert(
            hash: hash, cost: cost, deadline: deadline, at: now, where: { entries[Int($0)]?.key == entry.key },
            leave: { leftovers.add(entries[Int($0)].take()) })
        if Int(number) == entries.count { entries.append(entry) } else { entries[Int(number)] = entry }
    }

    @inlinable
    mutating func remove(_ key: Key, hash: Int) -> Entry? {
        guard let number = ledger.remove(hash, where: { entries[Int($0)]?.key == key }) else { return nil }
        return entries[Int(number)].take()
    }

    mutating func removeAll() -> ContiguousArray<Entry?> {
        var everything: ContiguousArray<Entry?> = []
        swap(&everything, &entries)
        ledger.removeAll()
        return everything
    }

    /// Evicts at most `most` entries until the others cost no more than `limit`.
    mutating func trim(toCost limit: Int, atMost most: Int, at now: Int64) -> Leftovers<Key, Value> {
        var leftovers = Leftovers<Key, Value>()
        ledger.trim(toCost: limit, atMost: most, at: now) { leftovers.add(entries[Int($0)].take()) }
        return leftovers
    }

    /// The keys under the next numbers, and the number to go on with, if there are more.
    func keys(from start: Int, atMost most: Int) -> (keys: [Key], next: Int?) {
        let end = min(start + most, entries.count)
        guard start < end else { return ([], nil) }
        return (entries[start..<end].compactMap { $0?.key }, end)
    }
}

/// Entries that have left the cache and are freed after the lock is open: a `deinit` may run any code, and may call the cache.
/// One entry, the usual number, takes no allocation.
@usableFromInline
struct Leftovers<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var first: (key: Key, value: Value)?
    @usableFromInline var others: [(key: Key, value: Value)] = []

    var isEmpty: Bool { first == nil }

    @inlinable
    init() {}

    @inlinable
    mutating func add(_ entry: (key: Key, value: Value)?) {
        if first == nil { first = entry } else if let entry { others.append(entry) }
    }
}

/// The time since a cache was made, in nanoseconds. The clock is read only if an entry has ever had a deadline, because reading it takes as
/// long as a hit.
@usableFromInline
struct MemoryClock: ~Copyable, Sendable {
    private let nanoseconds: @Sendable () -> Int64
    private let hasDeadlines = Atomic(false)

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        nanoseconds = { start.duration(to: clock.now).saturatedNanoseconds }
    }

    /// The time now. Without any deadline it is the smallest number, so that the clock need not be read.
    @usableFromInline var now: Int64 { hasDeadlines.load(ordering: .relaxed) ? nanoseconds() : .min }

    /// The time after this duration, or the last one that can be expressed.
    @usableFromInline
    func deadline(after time: Duration) -> Int64 {
        hasDeadlines.store(true, ordering: .relaxed)
        let (sum, overflow) = nanoseconds().addingReportingOverflow(time.saturatedNanoseconds)
        return overflow ? .max : sum
    }
}

extension Duration {
    /// Clamped to 64 bits, which are 292 years.
    fileprivate var saturatedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, tooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, stillTooLarge) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return tooLarge || stillTooLarge ? (seconds < 0 ? .min : .max) : sum
    }
}
