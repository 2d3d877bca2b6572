public import HTTPEngine

/// What to fetch, and what of the kept will do.
public struct FetchRequest: Sendable, Hashable {
    /// An absolute http or https URL. It is requested as it is; URLs that differ only in form share what is kept.
    public var url: String

    /// Sent with the request. They are part of what an answer is kept under; those that are credentials go to the URL's own origin only.
    public var headers: [HeaderField] = []

    /// Only an answer younger than this is taken from what is kept; without it, one as old as it says itself it may be.
    public var maximumAge: Duration?

    /// Asks the origin whatever is kept.
    public var refresh = false

    /// Before whom it comes to a place when more is asked for than may be fetched at a time.
    public var priority = FetchPriority.normal

    public init(_ url: String) { self.url = url }

    /// A request with some of it changed.
    public init(_ url: String, _ change: (inout FetchRequest) -> Void) {
        self.init(url)
        change(&self)
    }
}
