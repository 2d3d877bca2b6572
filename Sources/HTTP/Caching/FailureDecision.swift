/// For how long a failed fetch is remembered for its URL, and who gets the failure.
package struct FailureDecision: Sendable, Hashable {
    /// Until this moment later callers get the failure instead of a fetch. It is the moment of the failure where no caller does.
    package let keptUntil: Moment
    /// Whether callers of other processes that wait for the same answer fail with this fetch. Otherwise they fetch for themselves.
    package let isForOthers: Bool
    /// Whether the kept answer is dropped, because its origin says that it is gone or denied. Otherwise the next failure that permits it
    /// would bring it back.
    package let outdatesKept: Bool

    /// - Parameter failedAt: By the wall clock.
    package init(
        after error: FetchError, for request: RequestFacts, requestedAt: Moment, failedAt: Moment, policy: FreshnessPolicy
    ) {
        let times = policy.failures
        var time = times.time(for: error)
        // Another machine may have room, or a network.
        var isForOthers = !error.retry.isOfThisProcess && !error.retry.lacksNetwork && error.kind != .engine
        if error.retry.asksForRest, request.hasCredentials {
            // A caller with a key has a limit of its own.
            time = .zero
        } else if error.retry.asksForRest, times.throttled > .zero {
            // The pause is for everybody, whatever the page itself may be used for.
        } else if case .status(let status) = error.kind {
            let exchange = Exchange(
                request: request, finalURL: request.url, status: status, headers: error.headers, requestedAt: requestedAt,
                receivedAt: failedAt)
            switch StorageDecision(for: exchange, policy: policy) {
            // An answer of no use is still useful as a failure: it keeps others from the same attempt.
            case .keep, .refuse(.ofNoUse), .refuse(.noLifetime): time = Self.lifetime(of: exchange, policy, usually: time)
            case .refuse(let reason):
                time = .zero
                isForOthers = reason != .partial && reason != .notModified
            }
        }
        keptUntil = failedAt + min(max(time, .zero), times.maximum)
        self.isForOthers = isForOthers
        outdatesKept = Self.isRefusal(error) && !request.hasCredentials
    }

    private static func isRefusal(_ error: FetchError) -> Bool {
        if case .status(400...499) = error.kind { error.retry.isForEver } else { false }
    }

    /// The lifetime that the failed answer gives. Without one it is the usual time of such failures. Without that too, it follows from
    /// `Last-Modified`, where the status permits it (RFC 9111, section 4.2.2).
    private static func lifetime(of exchange: Exchange, _ policy: FreshnessPolicy, usually time: Duration) -> Duration {
        let freshness = Freshness(of: exchange, policy: policy)
        switch freshness.source {
        case .sharedMaxAge, .maxAge, .expires, .invalid: return freshness.freshUntil - exchange.receivedAt
        case .unknown, .heuristic: break
        }
        if freshness.mustRevalidate { return .zero }
        if time > .zero { return time }
        // The shortest guesses are for bodies, and not for failures.
        var policy = policy
        (policy.heuristicMinimum, policy.heuristicForImages) = (.zero, .zero)
        let guess = Freshness(of: exchange, policy: policy)
        return guess.source == .heuristic ? guess.freshUntil - exchange.receivedAt : .zero
    }
}

extension FailureTimes {
    /// Whether a failure like this one is remembered although its answer gives no lifetime.
    package func remembers(_ error: FetchError) -> Bool { time(for: error) > .zero }

    /// For how long the failure is remembered: as long as its answer says, or by its kind.
    func time(for error: FetchError) -> Duration {
        if error.retry.asksForRest { return throttled > .zero ? error.retry.rest ?? throttled : .zero }
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
        // The cause is this machine or this caller, or is known before anything is fetched.
        case .dns(.nobodyAnswers), .proxy, .timeout(.deadline), .invalidURL, .invalidRequest, .disallowed, .cancelled, .storage,
            .systemLimit, .engine:
            .zero
        }
    }
}
