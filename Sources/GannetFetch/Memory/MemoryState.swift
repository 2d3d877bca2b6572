internal import Synchronization

/// The state behind the lock of a `MemoryCache`: keys and values under the numbers of their order.
///
/// Nothing is freed here. Entries that leave are handed out, and freed when the lock is open again.
@usableFromInline
struct MemoryState<Key: Hashable & Sendable, Value: Sendable> {
    @usableFromInline typealias Pair = (key: Key, value: Value)

    @usableFromInline var order: EvictionOrder
    @usableFromInline var pairs: ContiguousArray<Pair?> = []

    init(costLimit: Int, countLimit: Int) { order = EvictionOrder(costLimit: costLimit, countLimit: countLimit) }

    @inlinable
    func find(_ key: Key, _ hash: Int) -> EntryNumber? { order.find(hash) { pairs[Int($0)]?.key == key } }

    @inlinable
    mutating func value(for key: Key, _ hash: Int, at now: Int64) -> (value: Value?, expired: Pair?) {
        guard let number = find(key, hash) else {
            order.statistics.misses &+= 1
            return (nil, nil)
        }
        guard !order.isExpired(number, at: now) else {
            order.statistics.misses &+= 1
            order.statistics.expirations &+= 1
            order.remove(number)
            return (nil, pairs[Int(number)].take())
        }
        order.noteHit(number)
        return (pairs[Int(number)]?.value, nil)
    }

    @inlinable
    func contains(_ key: Key, _ hash: Int, at now: Int64) -> Bool { find(key, hash).map { !order.isExpired($0, at: now) } ?? false }

    /// Room is made before the entry is added, so that the limits hold at every moment.
    @inlinable
    mutating func insert(_ pair: Pair, _ hash: Int, cost: Int, deadline: Int64?, at now: Int64) -> Leftovers<Pair> {
        var leftovers = Leftovers<Pair>()
        var old: Entry?
        if let number = find(pair.key, hash) {
            old = order.remove(number)
            leftovers.add(pairs[Int(number)].take())
        }
        while let number = order.makeRoom(for: cost, at: now) { leftovers.add(pairs[Int(number)].take()) }
        let number = Int(order.add(hash: hash, cost: cost, deadline: deadline, replacing: old))
        if number == pairs.count { pairs.append(pair) } else { pairs[number] = pair }
        return leftovers
    }

    @inlinable
    mutating func remove(_ key: Key, _ hash: Int) -> Pair? {
        guard let number = find(key, hash) else { return nil }
        order.remove(number)
        return pairs[Int(number)].take()
    }

    mutating func removeAll() -> ContiguousArray<Pair?> {
        order.removeAll()
        defer { pairs = [] }
        return pairs
    }

    /// Evicts at most `most` entries until the others cost no more than `limit`.
    mutating func trim(toCost limit: Int, atMost most: Int, at now: Int64) -> Leftovers<Pair> {
        var leftovers = Leftovers<Pair>()
        for _ in 0..<most where order.cost > limit && order.count > 0 { leftovers.add(pairs[Int(order.evict(at: now))].take()) }
        return leftovers
    }

    /// The keys under the next numbers, and the number to go on with, if there are more.
    func keys(from start: Int, atMost most: Int) -> (keys: [Key], next: Int?) {
        let end = min(start + most, pairs.count)
        guard start < end else { return ([], nil) }
        return (pairs[start..<end].compactMap { $0?.key }, end)
    }
}

/// Entries that have left the cache and are freed after the lock is open: a `deinit` may run any code, and may call the cache.
/// One entry, the usual number, takes no allocation.
@usableFromInline
struct Leftovers<Pair: Sendable>: Sendable {
    @usableFromInline var first: Pair?
    @usableFromInline var others: [Pair] = []

    @inlinable
    init() {}

    @inlinable
    mutating func add(_ pair: Pair?) {
        if first == nil { first = pair } else if let pair { others.append(pair) }
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
