internal import GannetBase

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
    /// Ask the origin first, with these headers; without any, the whole answer is fetched. If that fails, `mayReplace` says whether the
    /// kept answer may replace the failure.
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

/// How a kept answer fits a request at this moment.
private struct Usability {
    private let stored: StoredAnswer
    private let options: LookupOptions
    private let policy: FreshnessPolicy
    private let now: Moment
    /// Whether the answer may be used without asking the origin.
    private let isTrusted: Bool

    /// Nil for a request of a part, or with conditions of its own: no whole answer fits it.
    init?(_ stored: StoredAnswer, _ request: RequestFacts, _ options: LookupOptions, _ policy: FreshnessPolicy, _ now: Moment) {
        guard !request.isSpecial else { return nil }
        self.stored = stored
        self.options = options
        self.policy = policy
        self.now = now
        // A request with credentials asks for the sender's own answer. RFC 9111 would allow an answer for strangers; only an origin that says
        // so gets that.
        let isTheirs = stored.isForEverybody || !request.hasCredentials
        isTrusted = isTheirs && !options.refresh && stored.receivedAt <= now + policy.clockTolerance
    }

    private var freshness: Freshness { stored.freshness }

    private var staleness: Duration { now - freshness.freshUntil }

    /// Whether the answer is too old for the caller. An immutable answer is as good as new while it is fresh (RFC 8246, section 2).
    private var isTooOld: Bool {
        guard let limit = options.maximumAge, freshness.age(at: now) > limit else { return false }
        return !(freshness.isImmutable && freshness.isFresh(at: now))
    }

    /// The way to use the answer at once; nil when its origin has to be asked.
    func withoutAsking(random: Double) -> LookupDecision? {
        guard isTrusted, !isTooOld else { return nil }
        return freshness.isFresh(at: now) ? fresh(random) : stale
    }

    private func fresh(_ random: Double) -> LookupDecision? {
        if let least = options.minimumFreshness, freshness.freshUntil - now < least { return nil }
        return !options.onlyIfCached && !freshness.isImmutable && refreshesEarly(random) ? .refreshEarly : .fresh
    }

    /// Draws some callers of a fresh answer to fetch it again, so that a busy answer does not get stale for all callers at once.
    ///
    /// A caller is drawn more likely near the end of the lifetime, and for a slow fetch. The lead is drawn from an exponential distribution
    /// whose mean is the duration of a fetch. That is optimal (Vattani, Chierichetti, Lowenstein: Optimal Probabilistic Cache Stampede
    /// Prevention, 2015).
    private func refreshesEarly(_ random: Double) -> Bool {
        let (left, factor) = (freshness.freshUntil - now, policy.earlyRefreshFactor)
        // Even a slow origin is not asked again in the first half of the lifetime.
        guard factor > 0, (0..<1).contains(random), left <= (freshness.freshUntil - stored.receivedAt) / 2 else { return false }
        let lead = Double(stored.fetchDuration.saturatedMilliseconds) * factor * -log(1 - random)
        return Double(left.saturatedMilliseconds) <= lead
    }

    private var stale: LookupDecision? {
        guard !freshness.mustRevalidate, options.minimumFreshness == nil else { return nil }
        if let most = options.maximumStaleness, staleness <= most { return .stale }
        // A caller that limits the age or the staleness accepts no other stale answer.
        guard options.maximumAge == nil, options.maximumStaleness == nil, now < freshness.staleWhileRevalidateUntil else { return nil }
        return options.onlyIfCached ? .stale : .staleWhileRevalidate
    }

    /// Whether the answer may be used when its origin could not be asked.
    var mayServeOnError: Bool {
        guard isTrusted, !isTooOld else { return false }
        if freshness.isFresh(at: now) { return true }
        guard !freshness.mustRevalidate else { return false }
        return now < freshness.staleIfErrorUntil || options.staleIfError.map { staleness <= $0 } ?? false
    }
}

extension StoredAnswer {
    /// Whether the answer may replace a failed fetch although it is stale (RFC 5861, section 4; RFC 9111, section 4.2.4).
    /// - Parameter now: The moment of the failure: the fetch may have taken the rest of the answer's time.
    package func mayReplace(
        _ error: FetchError, for request: RequestFacts, options: LookupOptions = LookupOptions(), policy: FreshnessPolicy, now: Moment
    ) -> Bool {
        let options = options.tightened(by: request.control)
        guard error.kind.letsStaleServe, let use = Usability(self, request, options, policy, now) else { return false }
        return use.mayServeOnError
    }
}

extension FetchError.Kind {
    /// Whether a gateway would answer the failure with 500, 502, 503 or 504. An origin's decision, an own fault and an own rule do not count.
    fileprivate var letsStaleServe: Bool {
        switch self {
        case .status(let code): [500, 502, 503, 504].contains(code)
        case .dns, .connect, .proxy, .tls, .timeout, .tooSlow, .reset, .truncated, .badEncoding, .protocolError, .throttled: true
        case .invalidURL, .invalidRequest, .refusedAddress, .disallowed, .refusedRedirect, .tooManyRedirects, .tooLarge, .headersTooLarge,
            .unexpectedContent, .cancelled, .storage, .systemLimit, .engine:
            false
        }
    }
}
