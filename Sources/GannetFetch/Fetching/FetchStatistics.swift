public import GannetHTTP

/// Counts of what a fetcher has done since it was made, by the place that answers came from, and how full its tiers are.
public struct FetchStatistics: Sendable, Hashable {
    /// Calls that were answered from memory.
    public var memoryHits = 0
    /// Fetches that found their answer on disk.
    public var diskHits = 0
    /// Fetches that found their answer in the shared tier.
    public var sharedHits = 0
    /// Answers that came through the network.
    public var downloads = 0
    /// Kept answers that their origin confirmed without sending the body.
    public var revalidations = 0
    /// Calls that got an answer which is out of date, because the origin failed or is being asked in the background.
    public var staleServed = 0
    /// Calls that got a remembered failure instead of a fetch.
    public var failuresServed = 0
    /// Calls that got a value which had been made before.
    public var valueHits = 0
    /// Values that were made from a body.
    public var valuesMade = 0
    /// Attempts that failed.
    public var failures = 0
    /// Attempts that followed a failed one.
    public var retries = 0
    /// Bytes of bodies that came through the network.
    public var bytes: Int64 = 0
    /// Times that the shared tier could not be reached. The fetch went on without it, or its answer was not shared.
    public var sharedUnavailable = 0
    /// Answers that the shared tier had no room for.
    public var sharedRefused = 0
    /// Answers that could not be written to the disk, because its folder cannot be used or is full.
    public var diskFailures = 0
    /// Why the last of these answers could not be written: a sentence that names the path. Nil where there are none.
    public var lastDiskFailure: String?
    /// Fetches that ended because another process had taken over the lock of the URL.
    public var locksLost = 0
    /// Fetches whose URL another process had fetched as well. The cache shares the other process's answer.
    public var fenced = 0

    /// Answers in memory.
    public var memory = TierStatistics()
    /// Values in memory.
    public var values = TierStatistics()
    /// Answers on disk. Other processes may use the same folder, so its entries and bytes are estimates.
    public var disk = TierStatistics()

    package init() {}
}

/// How full a tier is, and how much it has dropped.
public struct TierStatistics: Sendable, Hashable {
    public var entries = 0
    /// Bytes, or the unit of your own costs where values have such costs.
    public var cost: Int64 = 0
    /// Entries that made room for others.
    public var evictions = 0

    package init() {}

    init(_ cache: MemoryCache<some Hashable & Sendable, some Sendable>) {
        entries = cache.count
        cost = Int64(cache.totalCost)
        evictions = cache.statistics.evictions
    }
}

/// Something that a fetcher has done, for logs and metrics.
public enum FetchEvent: Sendable, Hashable {
    /// A call has got its answer.
    case answered(RedactedURL, from: AnswerSource, bytes: Int, after: Duration)
    /// A call has failed. A call that was cancelled has failed too.
    case failed(FetchError, after: Duration)
    /// An attempt has failed, and is made again after a pause.
    case retrying(FetchError, attempt: Int, after: Duration)
}
