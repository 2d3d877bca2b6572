public import FetchCache
public import ImageProbe

/// How a ``Fetcher`` fetches and what it keeps. Each has a default that suits a program which fetches from the public internet.
public struct FetcherOptions: Sendable {
    // MARK: What is kept

    /// The bytes of bodies, and what goes with them, that are kept in memory; 0 keeps none. An answer that takes more than an eighth of it is not
    /// kept there, lest one drives out many: with the default that is a body of 8 MB.
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

    /// The most transfers at a time, from all hosts together. More wait, the more important ones first.
    public var maximumInFlight = 64

    /// For one transfer as a whole, look-ups and redirects included.
    public var timeout: Duration = .seconds(60)

    /// For the connection to a host, TLS included.
    public var connectTimeout: Duration = .seconds(10)

    /// The largest body, in bytes; larger ones fail. Bodies are collected in memory.
    public var maximumBody: Int64 = 100_000_000

    /// How many redirects are followed.
    public var maximumRedirects = 10

    /// Sent with every request. Honest by default; put a way to reach you in it when you fetch much. It is part of what answers are kept
    /// under: with another one nothing that was kept is found.
    public var userAgent: String?

    /// A PEM file of certificate authorities to trust instead of the system's.
    public var caFile: String?

    /// An HTTP or SOCKS proxy, as a URL. Without one, and whatever the environment says, origins are connected to.
    public var proxy: String?

    /// Private networks that may be fetched from, such as `10.0.0.0/8`, or `all`. By default only the public internet is: a redirect or a host
    /// name cannot lead into the network this program runs in.
    public var allowedNetworks: [String] = []

    // MARK: Images

    /// Larger pictures are refused by `image(from:)`, before anything would decode them.
    public var imageLimits = ImageLimits()

    public init() {}

    /// The default options with some changed.
    public init(_ change: (inout FetcherOptions) -> Void) { change(&self) }

    /// Why options cannot be used, as a sentence.
    public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        public let description: String

        package init(_ description: String) { self.description = description }
    }
}
