package import HTTPEngine

/// What is to be done for a request, given what is kept for its URL (RFC 9111, section 4).
package enum LookupDecision: Sendable, Hashable {
    /// Use it.
    case fresh
    /// Use it, and fetch behind it: it will be stale soon, and this caller was drawn to see that the others never notice.
    case refreshEarly
    /// Use it, although it is stale: the caller is content with that.
    case stale
    /// Use it, although it is stale, and fetch behind it.
    case staleWhileRevalidate
    /// Ask its origin first, with these headers; without any the whole is fetched. Should that fail, `StaleIfError` says whether it may stand in.
    case revalidate([HeaderField], mayServeStaleOnError: Bool)
    /// Fetch; nothing kept is of use.
    case miss
    /// Nothing kept is of use, and nothing is to be fetched. RFC 9111 has a cache say 504.
    case unavailable

    /// - Parameters:
    ///   - stored: What is kept under the URL's canonical form, of any variant.
    ///   - random: From 0 up to but not 1; another one for each call.
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
