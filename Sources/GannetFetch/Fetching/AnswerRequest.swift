package import GannetHTTP

/// A URL to fetch, and the conditions for a kept answer. The library's `FetchRequest` becomes one of these.
package struct AnswerRequest: Sendable, Hashable {
    /// An absolute http or https URL. It is requested as the URL standard writes it, without its fragment.
    package var url: String
    /// They are part of the key of a kept answer. Credentials among them go to the URL's own origin only.
    package var headers: [HeaderField] = []
    package var maximumAge: Duration?
    package var refresh = false
    package var priority = FetchPriority.normal
    /// The `Cache-Control` of a client on whose behalf the request is made. It is for the caches here, and is not sent on.
    package var control: CacheControl?

    package init(_ url: String) { self.url = url }

    /// A request with some of its fields changed.
    package init(_ url: String, _ change: (inout AnswerRequest) -> Void) {
        self.init(url)
        change(&self)
    }
}

/// A valid request, and the values that follow from it.
struct CheckedRequest: Sendable {
    let request: AnswerRequest
    let canonicalURL: String
    let host: String
    let key: CacheKey
    let facts: RequestFacts
    /// Set for a refresh in the background of a caller that has its answer: when that answer came. Any later answer will do.
    private(set) var behindSince: Moment?
    /// Set for a fetch that no other caller joins: a random number.
    private var alone: UInt64?

    init(_ request: AnswerRequest, userAgent: String?) throws(FetchError) {
        do throws(RequestRejection) {
            let url = try CanonicalURL(request.url)
            canonicalURL = url.text
            host = url.host
            key = CacheKey(url, headers: request.headers, userAgent: userAgent)
        } catch {
            throw FetchError(kind: .invalidURL, url: request.url, detail: error.description)
        }
        self.request = request
        facts = RequestFacts(url: request.url, headers: request.headers)
    }

    /// The same request in the background of its callers, for an answer that came after `since`.
    func behind(since: Moment) -> Self {
        var request = self
        request.behindSince = since
        request.alone = nil
        return request
    }

    /// The same request for one caller alone, because the answer of its URL is not for others.
    func forItself() -> Self {
        var request = self
        request.behindSince = nil
        request.alone = .random(in: .min ... .max)
        return request
    }

    /// Whether other processes may have the answer too.
    var mayBeShared: Bool { !isSecret && alone == nil }

    /// Whether the URL holds a password. Such an answer is kept neither on disk nor in Redis.
    var isSecret: Bool { RedactedURL.withoutUserInfo(request.url) != request.url }

    /// The conditions of the request and of its `Cache-Control` header.
    var options: LookupOptions {
        var options = LookupOptions()
        options.maximumAge = request.maximumAge
        options.refresh = request.refresh
        options = options.tightened(by: facts.control)
        if let control = request.control { options = options.tightened(by: control) }
        options.refresh = options.refresh || behindSince != nil
        return options
    }

    var sharedFetchKey: SharedFetchKey {
        let isBehind = behindSince != nil
        let options = options
        return SharedFetchKey(
            key: key, refresh: options.refresh && !isBehind, maximumAge: isBehind ? nil : options.maximumAge,
            onlyIfCached: options.onlyIfCached, isBehind: isBehind, alone: alone)
    }
}

/// The values in which two callers agree who share a fetch.
struct SharedFetchKey: Sendable, Hashable {
    let key: CacheKey
    let refresh: Bool
    let maximumAge: Duration?
    let onlyIfCached: Bool
    let isBehind: Bool
    let alone: UInt64?
}
