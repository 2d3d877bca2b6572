public import GannetBase

/// A cache in memory, bounded in cost and in entries, that keeps the entries which are asked for again and again.
///
/// ```swift
/// let images = MemoryCache<String, [UInt8]>(.init(costLimit: 64 << 20))
/// images.insert(bytes, for: url, cost: bytes.count, timeToLive: .seconds(600))
/// if let bytes = images.value(for: url) { … }
/// ```
///
/// Both limits hold at every moment, also during an insertion. Entries make room by how often they were asked for, and not only by when.
/// So a scan of many keys that are asked for once does not push out the entries in use.
///
/// Any thread may call it. A call takes one short lock, and a hit allocates nothing. The work of a call depends neither on the entries nor
/// on the limits. There are two exceptions: tables double as they grow, and a time to live costs the logarithm of the entries that have one.
/// Values and keys are freed outside the lock, so their `deinit` may call the cache. Only the keys' `==` runs under the lock, and must not
/// call it.
///
/// An entry takes about a hundred bytes besides its key and value.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let state: Mutex<MemoryState<Key, Value>>
    @usableFromInline let clock: MemoryClock
    @usableFromInline let largestCost: Int

    /// - Parameters:
    ///   - options: The limits.
    ///   - clock: The clock for times to live.
    public init(_ options: MemoryCacheOptions = .init(), clock: some Clock<Duration> = ContinuousClock()) {
        let cachesNothing = options.costLimit <= 0 || options.countLimit <= 0
        let costLimit = max(options.costLimit, 1)
        largestCost = cachesNothing ? -1 : min(options.largestCost ?? max(costLimit / 8, 1), costLimit)
        let countLimit = min(max(options.countLimit, 1), Int(EntryNumber.none) - 1)
        state = Mutex(MemoryState(costLimit: costLimit, countLimit: countLimit))
        self.clock = MemoryClock(clock)
    }

    /// The value, if there is one whose time is not over. The call counts as a use of the entry.
    @inlinable
    public func value(for key: Key) -> Value? {
        let hash = key.hashValue
        let now = clock.now
        return state.withLock { $0.value(for: key, hash, at: now) }.value
    }

    /// Whether there is a value whose time is not over. The call changes neither the order in which entries go nor the statistics.
    @inlinable
    public func contains(_ key: Key) -> Bool {
        let hash = key.hashValue
        let now = clock.now
        return state.withLock { $0.contains(key, hash, at: now) }
    }

    /// Puts a value in, and replaces the former one.
    /// - Parameters:
    ///   - value: Takes the place of the key's former value.
    ///   - key: Finds the value again.
    ///   - cost: Counts towards the limit. A negative cost is refused: it comes from a sum that overflowed.
    ///   - timeToLive: How long the value may be used. Entries whose time is over are the first to make room.
    /// - Returns: Whether the value was put in. It is refused if its cost is negative or above `MemoryCacheOptions.largestCost`, if its time
    ///   is over already, or if the limits allow nothing. The key then has no value any more, because the former one is out of date.
    @inlinable
    @discardableResult
    public func insert(_ value: Value, for key: Key, cost: Int, timeToLive: Duration? = nil) -> Bool {
        let hash = key.hashValue
        guard cost >= 0, cost <= largestCost, timeToLive.map({ $0 > .zero }) ?? true else {
            _ = state.withLock { state in
                state.order.statistics.refusals &+= 1
                return state.remove(key, hash)
            }
            return false
        }
        let deadline = timeToLive.map { clock.deadline(after: $0) }
        let now = clock.now
        _ = state.withLock { $0.insert((key, value), hash, cost: cost, deadline: deadline, at: now) }
        return true
    }

    /// - Returns: The value that was taken out, even if its time was over.
    @inlinable
    @discardableResult
    public func removeValue(for key: Key) -> Value? {
        let hash = key.hashValue
        return state.withLock { $0.remove(key, hash) }?.value
    }
}

// Calls that concern all entries. None holds the lock for longer than a slice of the entries takes.
extension MemoryCache {
    private static var slice: Int { 256 }

    /// The number of entries. Entries whose time is over count until their place is needed.
    public var count: Int { state.withLock { $0.order.count } }

    /// The cost of all entries together.
    public var totalCost: Int { state.withLock { $0.order.cost } }

    public var statistics: MemoryCacheStatistics { state.withLock { $0.order.statistics } }

    /// Takes everything out, and frees the memory of the tables too.
    public func removeAll() {
        _ = state.withLock { $0.removeAll() }
    }

    /// Takes out the values of some keys, and looks at all keys for that. Entries that are inserted meanwhile may be missed.
    /// - Parameter isUnwanted: May call the cache.
    public func removeAll(where isUnwanted: (Key) throws -> Bool) rethrows {
        var start: Int? = 0
        while let position = start {
            let part = state.withLock { $0.keys(from: position, atMost: Self.slice) }
            for key in part.keys where try isUnwanted(key) { removeValue(for: key) }
            start = part.next
        }
    }

    /// Takes entries out until the others cost no more than this, in the order in which they would have made room. It is for times when
    /// memory is short. Entries that are inserted meanwhile may exceed the limit.
    public func trim(toCost limit: Int) {
        let now = clock.now
        // The rounds are counted, because other threads may insert as fast as this one trims.
        for _ in 0...count / Self.slice {
            let leftovers = state.withLock { $0.trim(toCost: limit, atMost: Self.slice, at: now) }
            if leftovers.first == nil { break }
        }
    }
}
