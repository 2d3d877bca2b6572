internal import HTTPEngine

extension Freshness {
    /// That of what an exchange brought: no better than the weakest of the answers that led to it.
    package init(of exchange: Exchange, policy: FreshnessPolicy) {
        self.init(of: AnswerHead(status: exchange.status, headers: exchange.headers), in: exchange, policy)
        for hop in exchange.redirects {
            let head = AnswerHead(status: hop.status, headers: hop.headers)
            weaken(by: Freshness(of: head, in: exchange, policy, isRedirect: true))
        }
    }

    init(of head: AnswerHead, in exchange: Exchange, _ policy: FreshnessPolicy, isRedirect: Bool = false) {
        let control = head.control
        let lifetime = Lifetime(of: head, receivedAt: exchange.receivedAt, policy: policy, isRedirect: isRedirect)
        source = lifetime.source
        generatedAt =
            exchange.receivedAt
            - AnswerAge.corrected(head.headers, requestedAt: exchange.requestedAt, receivedAt: exchange.receivedAt)
        mustRevalidate = control.forbidsStale
        // From elsewhere than the origin itself one lie would stay for as long as it likes (RFC 8246, section 3).
        isImmutable = control.isImmutable && exchange.isAuthenticated

        if control.noCache == .everything {
            freshUntil = generatedAt
        } else {
            var until = generatedAt + lifetime.duration
            if !mustRevalidate, head.permitsGuesses { until = max(until, exchange.receivedAt + policy.minimumLifetime) }
            freshUntil = min(until, exchange.receivedAt + policy.maximumLifetime)
        }

        // Which also holds for `stale-while-revalidate` beside `s-maxage`: that is not an exception RFC 9111 makes (section 4.2.4).
        let mayBeStale = !mustRevalidate
        let onError = control.staleIfError == .absent && head.permitsGuesses ? policy.staleIfError : control.staleIfError.permitted ?? .zero
        let whileAsking = control.staleWhileRevalidate.permitted ?? .zero
        staleIfErrorUntil = freshUntil + (mayBeStale ? min(onError, policy.maximumStaleness) : .zero)
        staleWhileRevalidateUntil = freshUntil + (mayBeStale ? min(whileAsking, policy.maximumStaleness) : .zero)
    }

    /// Both together are as old as the older, and good for as long as both are.
    private mutating func weaken(by other: Self) {
        if other.freshUntil < freshUntil { source = other.source }
        generatedAt = min(generatedAt, other.generatedAt)
        freshUntil = min(freshUntil, other.freshUntil)
        staleWhileRevalidateUntil = max(freshUntil, min(staleWhileRevalidateUntil, other.staleWhileRevalidateUntil))
        staleIfErrorUntil = max(freshUntil, min(staleIfErrorUntil, other.staleIfErrorUntil))
        mustRevalidate = mustRevalidate || other.mustRevalidate
        isImmutable = isImmutable && other.isImmutable
    }
}
