/// For how long a failed fetch is remembered for its URL, and who gets the failure.
package struct FailureDecision: Sendable, Hashable {
    /// Until this moment later callers get the failure instead of a fetch. It is the moment of the failure where no caller does.
    package let keptUntil: Moment
    /// The waiting callers that fail with this fetch. The others fetch for themselves.
    package let audience: Audience
    /// Whether the kept answer is dropped, because its origin says that it is gone or denied. Otherwise the next failure that permits it
    /// would bring it back.
    package let outdatesKept: Bool

    /// - Parameter failedAt: By the wall clock.
    package init(
        after error: FetchError, for request: RequestFacts, requestedAt: Moment, failedAt: Moment, policy: FreshnessPolicy
    ) {
        let times = policy.failures
        var time = times.time(for: error)
        var audience = Self.audience(of: error.kind)
        if error.retry.asksForRest, request.hasCredentials {
            // A caller with a key has a limit of its own.
            (time, audience) = (.zero, .sameRequest)
        } else if error.retry.asksForRest, times.throttled > .zero {
            // The pause is for everybody, whatever the page itself may be used for.
        } else if case .status(let status) = error.kind {
            let ruling = Ruling(
                of: Exchange(
                    request: request, finalURL: request.url, status: status, headers: error.headers, requestedAt: requestedAt,
                    receivedAt: failedAt),
                policy: policy)
            time = ruling.mayBeKept ? ruling.time ?? (time > .zero ? time : ruling.guess) : .zero
            audience = ruling.audience
        }
        keptUntil = failedAt + min(max(time, .zero), times.maximum)
        self.audience = audience
        outdatesKept = Self.isRefusal(error) && !request.hasCredentials
    }

    private static func isRefusal(_ error: FetchError) -> Bool {
        if case .status(400...499) = error.kind { error.retry.isForEver } else { false }
    }

    private static func audience(of kind: FetchError.Kind) -> Audience {
        // Another machine may have room, or a network.
        if kind.retry.isLocal || kind.retry.lacksNetwork { return .sameMachine }
        return switch kind {
        // A caller with other headers has another request.
        case .invalidRequest: .sameRequest
        case .engine: .sameMachine
        case .cancelled: .nobody
        default: .allWaiting
        }
    }
}

extension FailureDecision {
    /// The words of the failed answer itself. The rules are those of any answer, except that it need not be useful.
    private struct Ruling {
        /// Nil where the answer gives no lifetime.
        let time: Duration?
        /// The lifetime that follows from `Last-Modified`, where the status permits it (RFC 9111, section 4.2.2).
        let guess: Duration
        let mayBeKept: Bool
        let audience: Audience

        init(of exchange: Exchange, policy: FreshnessPolicy) {
            let freshness = Freshness(of: exchange, policy: policy)
            // The shortest guesses are for bodies, and not for failures.
            var guessing = policy
            (guessing.heuristicMinimum, guessing.heuristicForImages) = (.zero, .zero)
            let guessed = Freshness(of: exchange, policy: guessing)
            guess = guessed.source == .heuristic && !guessed.mustRevalidate ? guessed.freshUntil - exchange.receivedAt : .zero
            switch freshness.source {
            case .sharedMaxAge, .maxAge, .expires, .invalid: time = freshness.freshUntil - exchange.receivedAt
            case .unknown, .heuristic: time = freshness.mustRevalidate ? .zero : nil
            }
            switch StorageDecision(for: exchange, policy: policy) {
            case .keep: (mayBeKept, audience) = (true, .allWaiting)
            case .refuse(let reason):
                // An answer of no use is still useful as a failure: it keeps others from the same attempt.
                mayBeKept = reason == .ofNoUse || reason == .noLifetime
                audience = reason.audience
            }
        }
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
