public import FoundationEssentials
public import GannetHTTP
public import GannetPictures

/// The settings of a ``Fetcher``. The defaults suit a program that fetches from the public internet.
@dynamicMemberLookup
public struct FetcherOptions: Sendable {
    // MARK: What is kept

    /// The bytes of memory for kept answers; 0 keeps none. An answer that takes more than an eighth of it is not kept in memory, because it
    /// would drive out many others. With the default that is a body of 8 MB.
    public var memoryLimit = 64 * 1024 * 1024

    /// The greatest number of answers in memory.
    public var memoryCount = 10_000

    /// The bytes of memory for values, such as decoded pictures; 0 keeps none. The values of a URL that take more than an eighth of it are
    /// not kept.
    public var valueLimit = 64 * 1024 * 1024

    /// The greatest number of URLs with values in memory.
    public var valueCount = 10_000

    /// A folder of this program's own, for answers that outlive it. Without a folder nothing is written to disk.
    ///
    /// A missing folder is made. A folder that cannot be written to is no error: answers are then kept in memory only, and
    /// ``FetchStatistics/diskFailures`` counts them.
    public var diskFolder: URL?

    /// The greatest size of that folder, in bytes. An answer with a body above a quarter of it, or above 100 MB, is not kept there.
    public var diskLimit: Int64 = 1_000_000_000

    /// A cache that processes share. It holds their answers, and lets one process at a time fetch a URL.
    public var shared: SharedCache?

    /// For how long answers are used, and when a stale answer may replace a failed fetch.
    public var freshness = FreshnessPolicy()

    // MARK: How it is fetched

    /// Timeouts, limits and permitted networks. Each can be set without `fetch`: `options.timeout`.
    ///
    /// When more transfers are wanted than may be in flight, those of a higher ``FetchPriority`` come first.
    public var fetch = FetchSettings()

    /// The most transfers at a time from one host; nil for no limit but `maximumInFlight`. Another port than 80 and 443 is another host.
    public var maximumAtHost: Int?

    /// How often a fetch is attempted again after a failure that may pass, such as a lost connection or a status of 500 to 599; up to 100.
    public var retries = 0

    /// The longest pause before the first of these attempts. Each further pause may be twice as long, up to 30 seconds. A part of each pause is
    /// left to chance. A `Retry-After` of up to 30 seconds is obeyed; after a longer one there is no further attempt.
    public var retryPause: Duration = .seconds(1)

    /// An HTTP or SOCKS proxy: `http://[user:password@]host:port`, `https://…`, or `socks5h://…`. Without one origins are connected to directly,
    /// and the environment's `http_proxy` is ignored.
    public var proxy: URL? {
        get { fetch.proxy.flatMap { URL(string: $0) } }
        set { fetch.proxy = newValue?.absoluteString }
    }

    /// A PEM file of certificate authorities to trust instead of the system's.
    public var authorityFile: URL? {
        get { fetch.caFile.map { URL(filePath: $0) } }
        // Another URL than a file's goes into the message that refuses it.
        set { fetch.caFile = newValue.map { $0.isFileURL ? $0.path : $0.absoluteString } }
    }

    public subscript<Value>(dynamicMember path: WritableKeyPath<FetchSettings, Value>) -> Value {
        get { fetch[keyPath: path] }
        set { fetch[keyPath: path] = newValue }
    }

    // MARK: Observation

    /// Hears of each answer, each failure and each further attempt, for logs and metrics. It is called where they happen, so it must be quick.
    public var observer: (@Sendable (FetchEvent) -> Void)?

    // MARK: Images

    /// The limits of ``Fetcher/image(from:)``. A larger image is refused before any decoder sees it.
    public var imageLimits = ImageLimits()

    public init() {}

    /// The default options with changes.
    public init(_ change: (inout FetcherOptions) -> Void) { change(&self) }
}

/// Prints without the proxy's password: in a log, in a dump, or as a part of another value.
extension FetcherOptions: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let values: KeyValuePairs<String, Any> = [
            "memoryLimit": memoryLimit, "memoryCount": memoryCount, "valueLimit": valueLimit, "valueCount": valueCount,
            "diskFolder": diskFolder?.path as Any, "diskLimit": diskLimit, "shared": shared == nil ? "none" : "set", "freshness": freshness,
            "fetch": fetch, "maximumAtHost": maximumAtHost as Any, "retries": retries, "retryPause": retryPause,
            "observer": observer == nil ? "none" : "set", "imageLimits": imageLimits,
        ]
        return Mirror(self, children: values, displayStyle: .struct)
    }
}

/// A cache that processes share, such as `RedisCache` of the product `GannetRedis`.
public struct SharedCache: Sendable {
    package let tier: any SharedTier

    package init(_ tier: any SharedTier) { self.tier = tier }
}

extension SharedCache: CustomReflectable {
    /// Requests under way name URLs, and these may hold secrets.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}
