/// What has been served since a fetcher began, and from where.
public struct FetchStatistics: Sendable, Hashable {
    /// Calls that were answered from memory.
    public var memoryHits = 0
    /// Fetches that found their answer on disk.
    public var diskHits = 0
    /// Fetches that found their answer with another process.
    public var sharedHits = 0
    /// Answers that came through the network.
    public var downloads = 0
    /// Kept answers that their origin confirmed, without a body.
    public var revalidations = 0
    /// Calls answered with what is out of date, in need or while the origin was asked.
    public var staleServed = 0
    /// Calls that were answered with a failure that was remembered.
    public var failuresServed = 0
    /// Attempts that came to nothing.
    public var failures = 0
    /// Bytes of bodies that came through the network.
    public var bytes: Int64 = 0
    /// Times that the shared tier could not be reached, so that a fetch went on without it or its answer was not shared.
    public var sharedUnavailable = 0
    /// Answers that were not shared, because the shared tier has no room for them or for bodies of their size.
    public var sharedRefused = 0
    /// Fetches that were called off because another process had taken the URL over.
    public var locksLost = 0
    /// Fetches that another process had made as well: its answer stands.
    public var fenced = 0

    package init() {}
}
