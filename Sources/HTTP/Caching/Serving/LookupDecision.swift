/// The next step for a request, given the kept answer of its URL (RFC 9111, section 4).
package enum LookupDecision: Sendable, Hashable {
    /// Use the answer.
    case fresh
    /// Use the answer and fetch in the background. It will be stale soon, and this caller was drawn to fetch before others notice.
    case refreshEarly
    /// Use the answer although it is stale: the caller accepts that.
    case stale
    /// Use the answer although it is stale, and fetch in the background.
    case staleWhileRevalidate
    /// Ask the origin first, with these headers; without any, the whole answer is fetched. If that fails, `StaleIfError` says whether the
    /// kept answer may replace it.
    case revalidate([HeaderField], mayServeStaleOnError: Bool)
    /// Fetch: no kept answer is of use.
    case miss
    /// No kept answer is of use, and the caller forbids a fetch. RFC 9111 has a cache answer 504.
    case unavailable

    /// - Parameters:
    ///   - stored: The answer that is kept under the URL's canonical form, of any variant.
    ///   - random: From 0 up to but not 1; another number for each call.
    package init(
        _ stored: StoredAnswer?, for request: RequestFacts, options: LookupOptions = LookupOptions(), policy: FreshnessPolicy, now: Moment,
        random: Double
    ) {
        let options = options.tightened(by: request.control)
        guard let stored, let use = Usability(stored, request, options, policy, now) else {
            self = options.onlyIfCached ? .unavailable : .miss
            return
        }
        if let decision = use.withoutAsking(random: random) {
            self = decision
        } else if options.onlyIfCached {
            self = .unavailable
        } else {
            let conditions = stored.conditions
            let mayServe = use.mayServeOnError
            self = conditions.isEmpty && !mayServe ? .miss : .revalidate(conditions, mayServeStaleOnError: mayServe)
        }
    }
}

/// A caller's conditions for a kept answer: those that a request's `Cache-Control` can express (RFC 9111, section 5.2.1).
package struct LookupOptions: Sendable, Hashable {
    /// The greatest age. By itself it also requires a fresh answer. Together with an endless `maximumStaleness` only the age counts.
    package var maximumAge: Duration?
    /// For how long the answer must stay fresh.
    package var minimumFreshness: Duration?
    /// An answer is accepted that has been stale for this long.
    package var maximumStaleness: Duration?
    /// When the origin cannot be asked, an answer is accepted that has been stale for this long (RFC 5861, section 4).
    package var staleIfError: Duration?
    /// Only an answer is accepted that its origin has confirmed for this request.
    package var refresh = false
    /// Nothing is fetched.
    package var onlyIfCached = false

    package init() {}

    /// These conditions together with the directives of a request. Where both are set, the stricter counts. An unreadable number is the
    /// strictest.
    package func tightened(by control: CacheControl) -> Self {
        var options = self
        options.maximumAge = Self.stricter(maximumAge, control.maxAge, strictest: .zero, min)
        options.minimumFreshness = Self.stricter(minimumFreshness, control.minFresh, strictest: .seconds(DeltaSeconds.forever), max)
        options.maximumStaleness = Self.stricter(maximumStaleness, control.maxStale, strictest: .zero, min)
        options.staleIfError = Self.stricter(staleIfError, control.staleIfError, strictest: .zero, min)
        options.refresh = refresh || control.noCache != .absent
        options.onlyIfCached = onlyIfCached || control.onlyIfCached
        return options
    }

    private static func stricter(
        _ own: Duration?, _ told: CacheControl.Seconds, strictest: Duration, _ choose: (Duration, Duration) -> Duration
    ) -> Duration? {
        let other: Duration? =
            switch told {
            case .absent: nil
            case .invalid: strictest
            case .seconds(let seconds): .seconds(seconds)
            }
        guard let own, let other else { return own ?? other }
        return choose(own, other)
    }
}
