/// The limits of a `MemoryCache`.
public struct MemoryCacheOptions: Sendable, Hashable {
    /// The greatest cost of all entries together, in the unit of your costs, which is bytes as a rule. With zero or less nothing is cached.
    public var costLimit: Int

    /// The greatest number of entries, at most four billion. An entry takes about a hundred bytes besides its key and value, which its cost
    /// does not cover unless you add them. With zero or less nothing is cached.
    public var countLimit: Int

    /// The greatest cost of one entry. A costlier one is not cached, because too many others would have to go. Nil means an eighth of
    /// `costLimit`, and at least 1.
    public var largestCost: Int?

    public init(costLimit: Int = 64 << 20, countLimit: Int = 100_000, largestCost: Int? = nil) {
        self.costLimit = costLimit
        self.countLimit = countLimit
        self.largestCost = largestCost
    }
}

/// Counts of what a `MemoryCache` has done since it was made.
public struct MemoryCacheStatistics: Sendable, Hashable {
    /// Look-ups that found a value.
    public var hits = 0
    /// Look-ups that found no value, or an expired one.
    public var misses = 0
    /// Values that were put in, for new keys and for keys that had a value.
    public var insertions = 0
    /// Entries that made room for others, or that were trimmed.
    public var evictions = 0
    /// Entries that were dropped because their time was over.
    public var expirations = 0
    /// Values that were refused: too costly, or expired from the start.
    public var refusals = 0

    package init() {}

    /// The share of look-ups that found a value; zero before the first look-up.
    public var hitRate: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
}
