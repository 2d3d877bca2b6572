/// Counts of what a fetcher has done since it was made, by the place that answers came from.
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
    /// Attempts that failed.
    public var failures = 0
    /// Bytes of bodies that came through the network.
    public var bytes: Int64 = 0
    /// Times that the shared tier could not be reached. The fetch went on without it, or its answer was not shared.
    public var sharedUnavailable = 0
    /// Answers that the shared tier had no room for.
    public var sharedRefused = 0
    /// Fetches that ended because another process had taken over the lock of the URL.
    public var locksLost = 0
    /// Fetches whose URL another process had fetched as well. The cache shares the other process's answer.
    public var fenced = 0

    package init() {}
}
