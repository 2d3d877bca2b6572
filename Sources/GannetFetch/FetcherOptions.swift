public import HTTPCaching
public import HTTPEngine
public import ImageProbe

/// How a ``Fetcher`` fetches and what it keeps. Each has a default that suits a program which fetches from the public internet.
@dynamicMemberLookup
public struct FetcherOptions: Sendable {
    // MARK: What is kept

    /// The bytes of bodies, and what goes with them, that are kept in memory; 0 keeps none. An answer that takes more than an eighth of it is not
    /// kept there, because one would drive out many: with the default that is a body of 8 MB.
    public var memoryLimit = 64 * 1024 * 1024

    /// The most answers that are kept in memory.
    public var memoryCount = 10_000

    /// A folder of this program's own in which answers outlive it; without one nothing is written. It is made when it is missing. One that cannot
    /// be written to is no error: answers are then kept in memory alone. It must not begin with `~/`, which is not expanded.
    public var diskFolder: String?

    /// The most that folder may hold, in bytes. An answer whose body has more than a quarter of it, or more than 100 MB, is not kept there.
    public var diskLimit: Int64 = 1_000_000_000

    /// What other processes have fetched, and the promise that one URL is fetched by one of them at a time.
    public var shared: SharedCache?

    /// For how long answers are good, and what may be done with them afterwards.
    public var freshness = FreshnessPolicy()

    // MARK: How it is fetched

    /// Times, limits, proxy, trust and permitted networks. Each can be set without the `fetch`: `options.timeout`. Of more transfers than may be
    /// in flight at a time, the more important ones come first.
    public var fetch = FetchSettings()

    public subscript<Value>(dynamicMember path: WritableKeyPath<FetchSettings, Value>) -> Value {
        get { fetch[keyPath: path] }
        set { fetch[keyPath: path] = newValue }
    }

    // MARK: Images

    /// Larger pictures are refused by `image(from:)`, before anything would decode them.
    public var imageLimits = ImageLimits()

    public init() {}

    /// The default options with some changed.
    public init(_ change: (inout FetcherOptions) -> Void) { change(&self) }
}
