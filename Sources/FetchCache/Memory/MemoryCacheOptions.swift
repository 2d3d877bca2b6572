/// How much a `MemoryCache` may hold.
public struct MemoryCacheOptions: Sendable, Hashable {
    /// The most that all entries together may cost, in whatever unit the costs are given; bytes, as a rule. Zero or less: nothing is cached.
    public var costLimit: Int

    /// The most entries. Each takes about a hundred bytes beside its key and value, which no cost covers unless you count them.
    /// Zero or less: nothing is cached. Four billion is the most that can be had.
    public var countLimit: Int

    /// What costs more than this is not cached, since it would take the place of too much else. Nil: an eighth of `costLimit`, and at least 1.
    public var largestCost: Int?

    public init(costLimit: Int = 64 << 20, countLimit: Int = 100_000, largestCost: Int? = nil) {
        self.costLimit = costLimit
        self.countLimit = countLimit
        self.largestCost = largestCost
    }
}
