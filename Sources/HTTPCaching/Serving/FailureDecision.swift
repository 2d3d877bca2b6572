package import HTTPEngine

/// For how long a failed fetch stands for its URL, and for whom.
package struct FailureDecision: Sendable, Hashable {
    /// Before this a later caller gets the failure instead of a fetch; the moment of the failure itself when nobody does.
    package let keptUntil: Moment
    /// Who of those that wait for the fetch fails with it; the others fetch for themselves.
    package let audience: Audience
    /// Whether what is kept for the URL is to be dropped: its origin has said that it is not there, or not to be had. Otherwise the next
    /// failure that permits it would bring it back.
    package let outdatesKept: Bool

    /// - Parameter failedAt: By the wall clock.
    package init(
        after error: FetchError, for request: RequestFacts, requestedAt: Moment, failedAt: Moment, policy: FreshnessPolicy
    ) {
        let times = policy.failures
        var time = times.time(for: error)
        var audience = Self.audience(of: error.kind)
        if case .throttled = error.retry {
            // The host wants a rest from everybody, whatever its page may be used for; but who has a key has a limit of their own.
            if request.hasCredentials { (time, audience) = (.zero, .sameRequest) }
        } else if case .status(let status) = error.kind {
            let ruling = Ruling(
                of: Exchange(
                    request: request, finalURL: request.url, status: status, headers: error.headers, requestedAt: requestedAt,
                    receivedAt: failedAt),
                policy: policy)
            time = ruling.mayBeKept ? ruling.time ?? time : .zero
            audience = ruling.audience
        }
        keptUntil = failedAt + min(max(time, .zero), times.maximum)
        self.audience = audience
        outdatesKept = Self.isRefusal(error) && !request.hasCredentials
    }

    private static func isRefusal(_ error: FetchError) -> Bool {
        if case .status(400...499) = error.kind, case .never = error.retry { true } else { false }
    }

    private static func audience(of kind: FetchError.Kind) -> Audience {
        switch kind {
        // Whoever sends other headers has another request.
        case .invalidRequest: .sameRequest
        // Elsewhere there may be room, or a network.
        case .storage, .systemLimit, .engine, .dns(.nobodyAnswers), .proxy: .sameMachine
        case .cancelled: .nobody
        default: .allWaiting
        }
    }
}
