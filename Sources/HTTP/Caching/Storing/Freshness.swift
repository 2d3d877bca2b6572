/// Until when an answer may be used, and how. It follows from the answer's headers and its age on arrival.
package struct Freshness: Sendable, Hashable {
    /// The origin of a lifetime.
    package enum Source: UInt8, Sendable, Hashable, CaseIterable {
        /// The answer says nothing, and nothing can be guessed: stale from the start.
        case unknown = 0
        case sharedMaxAge = 1
        case maxAge = 2
        case expires = 3
        /// Guessed.
        case heuristic = 4
        /// The answer's lifetime cannot be read, or contradicts itself: stale from the start.
        case invalid = 5
    }

    /// When the origin made the answer, or confirmed it last. The age counts from here.
    package var generatedAt: Moment
    /// Before this moment the answer may be used as it is.
    package var freshUntil: Moment
    /// Before this moment the answer may be used while the origin is asked. Not before `freshUntil`.
    package var staleWhileRevalidateUntil: Moment
    /// Before this moment the answer may be used when the origin could not be asked. Not before `freshUntil`.
    package var staleIfErrorUntil: Moment
    /// Whether the origin forbids to use the answer stale, whatever a caller accepts.
    package var mustRevalidate: Bool
    /// Whether the origin says that the answer does not change while it is fresh (RFC 8246).
    package var isImmutable: Bool
    package var source: Source

    package func age(at now: Moment) -> Duration { max(.zero, now - generatedAt) }

    package func isFresh(at now: Moment) -> Bool { now < freshUntil }
}

extension Freshness {
    /// Of an exchange: no better than that of the weakest redirect on the way.
    package init(of exchange: Exchange, policy: FreshnessPolicy) {
        self.init(of: exchange.finalHead, after: exchange.redirectHeads, in: exchange, policy)
    }

    /// - Parameter redirects: The heads of the exchange's redirects.
    init(of final: AnswerHead, after redirects: [AnswerHead], in exchange: Exchange, _ policy: FreshnessPolicy) {
        self.init(of: final, in: exchange, policy)
        for head in redirects { weaken(by: Freshness(of: head, in: exchange, policy, isRedirect: true)) }
    }

    init(of head: AnswerHead, in exchange: Exchange, _ policy: FreshnessPolicy, isRedirect: Bool = false) {
        let control = head.control
        let (lifetime, source) = Self.lifetime(of: head, receivedAt: exchange.receivedAt, policy, isRedirect: isRedirect)
        self.source = source
        generatedAt =
            exchange.receivedAt
            - AnswerAge.corrected(head.headers, requestedAt: exchange.requestedAt, receivedAt: exchange.receivedAt)
        mustRevalidate = control.forbidsStale
        // Over an unprotected connection one forged header would stay for as long as it likes (RFC 8246, section 3).
        isImmutable = control.isImmutable && exchange.isAuthenticated

        if control.noCache == .everything {
            freshUntil = generatedAt
        } else {
            var until = generatedAt + lifetime
            if !mustRevalidate, head.permitsGuesses { until = max(until, exchange.receivedAt + policy.minimumLifetime) }
            freshUntil = min(until, exchange.receivedAt + policy.maximumLifetime)
        }

        // This includes `stale-while-revalidate` beside `s-maxage`: RFC 9111, section 4.2.4, makes no exception for it.
        let mayBeStale = !mustRevalidate
        let onError = control.staleIfError == .absent && head.permitsGuesses ? policy.staleIfError : control.staleIfError.permitted ?? .zero
        let whileAsking = control.staleWhileRevalidate.permitted ?? .zero
        staleIfErrorUntil = freshUntil + (mayBeStale ? min(onError, policy.maximumStaleness) : .zero)
        staleWhileRevalidateUntil = freshUntil + (mayBeStale ? min(whileAsking, policy.maximumStaleness) : .zero)
    }

    /// Weakens it by another: as old as the older, and good for as long as both are.
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
