/// What a `MemoryCache` has done since it was made.
public struct MemoryCacheStatistics: Sendable, Hashable {
    /// Look-ups that found a value.
    public var hits = 0
    /// Look-ups that found none, or one that had expired.
    public var misses = 0
    /// Values taken in, for new keys and for ones that had a value.
    public var insertions = 0
    /// Entries that had to make room for others, or to go when the cache was trimmed.
    public var evictions = 0
    /// Entries that were dropped because their time was over.
    public var expirations = 0
    /// Values that were not taken in: too costly, or expired before they began.
    public var refusals = 0

    public init() {}

    /// The part of the look-ups that found a value; zero before the first.
    public var hitRate: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
}
