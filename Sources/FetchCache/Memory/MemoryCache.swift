public import GannetBasics

/// A cache in memory, bounded in cost and in entries, that keeps what is asked for again and again.
///
/// ```swift
/// let images = MemoryCache<String, [UInt8]>(.init(costLimit: 64 << 20))
/// images.insert(bytes, for: url, cost: bytes.count, timeToLive: .seconds(600))
/// if let bytes = images.value(for: url) { … }
/// ```
///
/// Both limits hold at every moment, also while an entry is put in. What makes room is chosen by how often entries were asked for and
/// not only by when, so that a scan of many keys that are asked for once does not push out the ones in use.
///
/// Any thread may call it. A call takes one short lock; a hit allocates nothing, and work grows neither with the entries nor with the
/// limits, save that tables double as they grow, and that a time to live costs the logarithm of the entries that have one. Values and
/// keys are freed outside the lock, so that what a `deinit` does may well call the cache. Only the keys' `==` runs under it, and must
/// not.
///
/// An entry takes about a hundred bytes beside its key and value.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let state: Mutex<MemoryState<Key, Value>>
    @usableFromInline let clock: MemoryClock
    @usableFromInline let largestCost: Int

    /// - Parameters:
    ///   - options: The limits.
    ///   - clock: What times to live are held against.
    public init(_ options: MemoryCacheOptions = .init(), clock: some Clock<Duration> = ContinuousClock()) {
        let cachesNothing = options.costLimit <= 0 || options.countLimit <= 0
        let costLimit = max(options.costLimit, 1)
        largestCost = cachesNothing ? -1 : min(options.largestCost ?? max(costLimit / 8, 1), costLimit)
        let countLimit = min(max(options.countLimit, 1), Int(SlotNumber.none) - 1)
        state = Mutex(MemoryState(Ledger(costLimit: costLimit, countLimit: countLimit)))
        self.clock = MemoryClock(clock)
    }

    /// The value, if there is one whose time is not over. This is what counts as being asked for.
    @inlinable
    public func value(for key: Key) -> Value? {
        let hash = key.hashValue
        let now = clock.now
        var leftovers = Leftovers<Key, Value>()
        return state.withLock { $0.value(for: key, hash: hash, at: now, &leftovers) }
    }

    /// Whether there is a value whose time is not over. Asking changes nothing, neither the order in which entries go nor the statistics.
    @inlinable
    public func contains(_ key: Key) -> Bool {
        let hash = key.hashValue
        let now = clock.now
        return state.withLock { $0.contains(key, hash: hash, at: now) }
    }

    /// Puts a value in, in the place of the one that was there.
    /// - Parameters:
    ///   - cost: What it counts towards the limit. A negative cost is not taken for a small one: it comes from a sum that overflowed.
    ///   - timeToLive: How long it may be used. Entries whose time is over are the first to make room.
    /// - Returns: Whether it was put in. It is not if its cost is negative or above `MemoryCacheOptions.largestCost`, if its time is
    ///   over already, or if the limits allow nothing. Then there is no value for the key any more, since the one that was there is out
    ///   of date.
    @inlinable
    @discardableResult
    public func insert(_ value: Value, for key: Key, cost: Int, timeToLive: Duration? = nil) -> Bool {
        let hash = key.hashValue
        guard cost >= 0, cost <= largestCost, timeToLive.map({ $0 > .zero }) ?? true else {
            _ = state.withLock { state in
                state.ledger.noteRefusal()
                return state.remove(key, hash: hash)
            }
            return false
        }
        let deadline = timeToLive.map { clock.deadline(after: $0) }
        let now = clock.now
        let entry = CacheEntry(key: key, value: value)
        var leftovers = Leftovers<Key, Value>()
        state.withLock { $0.insert(entry, hash: hash, cost: cost, deadline: deadline, at: now, &leftovers) }
        return true
    }

    /// Takes a value out.
    /// - Returns: The value, also if its time was over.
    @inlinable
    @discardableResult
    public func removeValue(for key: Key) -> Value? {
        let hash = key.hashValue
        return state.withLock { $0.remove(key, hash: hash) }?.value
    }
}
