/// What a `MemoryCache` has done since it was made.
public struct MemoryCacheStatistics: Sendable, Hashable {
    /// Look-ups that found a value.
    public internal(set) var hits = 0
    /// Look-ups that found none, or one that had expired.
    public internal(set) var misses = 0
    /// Values taken in, for new keys and for ones that had a value.
    public internal(set) var insertions = 0
    /// Entries that had to make room for others, or to go when the cache was trimmed.
    public internal(set) var evictions = 0
    /// Entries that were dropped because their time was over.
    public internal(set) var expirations = 0
    /// Values that were not taken in: too costly, or expired before they began.
    public internal(set) var refusals = 0

    /// The part of the look-ups that found a value; zero before the first.
    public var hitRate: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
}
