internal import HTTPCaching
internal import HTTPEngine

/// A request, checked, and all that follows from it.
struct Asked: Sendable {
    let request: FetchRequest
    let canonicalURL: String
    let key: CacheKey
    let facts: RequestFacts
    /// Set where the caller has been answered and the origin is asked behind it: what others have fetched since then will do.
    let behindSince: Moment?

    init(_ request: FetchRequest, userAgent: String?) throws(FetchError) {
        do throws(RequestRejection) {
            let url = try CanonicalURL(request.url)
            canonicalURL = url.text
            key = CacheKey(url, headers: request.headers, userAgent: userAgent)
        } catch {
            throw FetchError(kind: .invalidURL, url: request.url, detail: error.description)
        }
        self.request = request
        let agent = userAgent.flatMap { HeaderField(name: "User-Agent", value: $0) }
        facts = RequestFacts(url: request.url, headers: request.headers + (agent.map { [$0] } ?? []))
        behindSince = nil
    }

    private init(_ other: Asked, behindSince: Moment) {
        request = other.request
        canonicalURL = other.canonicalURL
        key = other.key
        facts = other.facts
        self.behindSince = behindSince
    }

    /// The same for nobody in particular: to have something newer than what came then.
    func behind(since: Moment) -> Asked { Asked(self, behindSince: since) }

    /// Whether the URL holds a password, which belongs neither on a disk nor in a Redis.
    var isSecret: Bool { RedactedURL.withoutUserInfo(request.url) != request.url }

    /// With what the headers say of it.
    var options: LookupOptions {
        var options = LookupOptions()
        options.maximumAge = request.maximumAge
        options.refresh = request.refresh
        options = options.tightened(by: facts.control)
        options.refresh = options.refresh || behindSince != nil
        return options
    }

    var flight: FlightKey {
        let isBehind = behindSince != nil
        return FlightKey(
            key: key, refresh: request.refresh && !isBehind, maximumAge: isBehind ? nil : request.maximumAge, isBehind: isBehind)
    }
}

/// What callers have to agree in to share a fetch.
struct FlightKey: Sendable, Hashable {
    let key: CacheKey
    let refresh: Bool
    let maximumAge: Duration?
    let isBehind: Bool
}
