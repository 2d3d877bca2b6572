package import HTTPEngine

/// Whether a stale answer may stand in for a fetch that failed (RFC 5861, section 4; RFC 9111, section 4.2.4).
package enum StaleIfError {
    /// - Parameter now: When the fetch had failed: it may have taken the rest of the answer's time.
    package static func permits(
        _ stored: StoredAnswer, after error: FetchError, for request: RequestFacts, options: LookupOptions = LookupOptions(),
        policy: FreshnessPolicy, now: Moment
    ) -> Bool {
        let options = options.tightened(by: request.control)
        guard counts(error.kind), let use = Usability(stored, request, options, policy, now) else { return false }
        return use.mayServeOnError
    }

    /// Whether it is one for which a gateway would answer 500, 502, 503 or 504. Not what an origin decided, nor what is our own fault or our own rule.
    static func counts(_ kind: FetchError.Kind) -> Bool {
        switch kind {
        case .status(let code): [500, 502, 503, 504].contains(code)
        case .dns, .connect, .proxy, .tls, .timeout, .tooSlow, .reset, .truncated, .badEncoding, .protocolError, .throttled: true
        case .invalidURL, .invalidRequest, .refusedAddress, .refusedRedirect, .tooManyRedirects, .tooLarge, .headersTooLarge,
            .unexpectedContent, .cancelled,
            .storage, .systemLimit, .engine:
            false
        }
    }
}
