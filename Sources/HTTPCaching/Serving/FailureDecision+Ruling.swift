internal import HTTPEngine

extension FailureDecision {
    /// What the answer that failed says of itself. The rules are those for any answer; only that it is useful is not asked for.
    struct Ruling {
        /// Nil when it gives no lifetime.
        let time: Duration?
        let mayBeKept: Bool
        let audience: Audience

        init(of exchange: Exchange, policy: FreshnessPolicy) {
            let freshness = Freshness(of: exchange, policy: policy)
            switch freshness.source {
            case .sharedMaxAge, .maxAge, .expires, .invalid: time = freshness.freshUntil - exchange.receivedAt
            case .unknown, .heuristic: time = freshness.mustRevalidate ? .zero : nil
            }
            switch StorageDecision(for: exchange, policy: policy) {
            case .keep(let terms):
                // Failures are kept by URL alone.
                mayBeKept = terms.selecting == .none
                audience = mayBeKept ? .allWaiting : .sameRequest
            case .refuse(let reason):
                // What is of no use as an answer is of some as a failure: it keeps others from trying the same.
                mayBeKept = reason == .ofNoUse || reason == .noLifetime
                audience = reason.audience
            }
        }
    }
}

extension FailureTimes {
    /// The time of the error's class, where its answer gives none.
    func time(for error: FetchError) -> Duration {
        if case .throttled(let pause) = error.retry { return pause ?? throttled }
        return switch error.kind {
        case .status(404), .status(410): missing
        case .status(400...499): denied
        case .status(500...): failing
        case .dns(.noSuchName): noSuchHost
        case .tls: tls
        case .refusedAddress: refusedAddress
        case .status, .refusedRedirect, .tooManyRedirects, .tooLarge, .headersTooLarge, .badEncoding, .protocolError, .unexpectedContent:
            unusable
        case .dns(.noAddress), .dns(.serverFailed), .connect, .timeout(.resolve), .timeout(.connect): unreachable
        case .timeout(.response), .timeout(.body), .tooSlow, .reset, .truncated, .throttled: failing
        // This machine's, this caller's, or known before anything is fetched.
        case .dns(.nobodyAnswers), .proxy, .invalidURL, .invalidRequest, .cancelled, .storage, .systemLimit, .engine: .zero
        }
    }
}
