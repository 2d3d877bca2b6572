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
        generatedAt = exchange.receivedAt - head.headers.age(requestedAt: exchange.requestedAt, receivedAt: exchange.receivedAt)
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

extension Freshness {
    /// For how long an answer is fresh, counted from when its origin made it (RFC 9111, section 4.2.1).
    /// - Parameter isRedirect: Whether the answer is a redirect. Its `Last-Modified` is not about the body, so nothing is guessed from it.
    static func lifetime(
        of head: AnswerHead, receivedAt: Moment, _ policy: FreshnessPolicy, isRedirect: Bool
    ) -> (Duration, source: Source) {
        if let explicit = Self.explicit(head, receivedAt: receivedAt) { return explicit }
        let guess = isRedirect ? Self.guess(redirect: head, policy) : Self.guess(head, receivedAt: receivedAt, policy)
        return (guess, guess == .zero ? .unknown : .heuristic)
    }

    /// The first lifetime that the answer gives; nil without any. An unreadable or contradictory lifetime is over.
    private static func explicit(_ head: AnswerHead, receivedAt: Moment) -> (Duration, source: Source)? {
        let control = head.control
        if control.isMalformed { return (.zero, .invalid) }
        for (value, source) in [(control.sharedMaxAge, Source.sharedMaxAge), (control.maxAge, .maxAge)] {
            switch value {
            case .absent: continue
            case .invalid: return (.zero, .invalid)
            case .seconds(let seconds): return (.seconds(seconds), source)
            }
        }
        guard head.headers.has("expires") else { return nil }
        let values = Set(head.headers.values(of: "expires"))
        guard values.count == 1, let expires = values.first.flatMap({ HTTPDate($0, now: receivedAt.secondsSince1970) }) else {
            return (.zero, .invalid)
        }
        // Both dates are by the origin's clock, so an error of that clock cancels out.
        return (max(.zero, Moment(expires) - origin(head, receivedAt)), .expires)
    }

    /// A part of the time since the last change (RFC 9111, section 4.2.2).
    private static func guess(_ head: AnswerHead, receivedAt: Moment, _ policy: FreshnessPolicy) -> Duration {
        guard head.permitsGuesses, head.isHeuristicallyCacheable || head.control.isPublic else { return .zero }
        let least = least(head, policy)
        guard head.headers.has("last-modified"), let text = head.headers["last-modified"],
            let modified = HTTPDate(text, now: receivedAt.secondsSince1970)
        else { return least }
        let unchanged = max(.zero, origin(head, receivedAt) - Moment(modified))
        return max(least, min(unchanged * policy.heuristicFraction, policy.heuristicMaximum))
    }

    /// The shortest guess. Pictures rarely change under their URL, so it may be longer for them.
    private static func least(_ head: AnswerHead, _ policy: FreshnessPolicy) -> Duration {
        guard policy.heuristicForImages > policy.heuristicMinimum, head.isImage else { return policy.heuristicMinimum }
        return max(policy.heuristicMinimum, min(policy.heuristicForImages, policy.heuristicMaximum))
    }

    private static func guess(redirect head: AnswerHead, _ policy: FreshnessPolicy) -> Duration {
        guard head.permitsGuesses else { return .zero }
        // Permanent ones: RFC 9110, sections 15.4.2 and 15.4.9.
        return [301, 308].contains(head.status) ? policy.heuristicMaximum : policy.heuristicMinimum
    }

    private static func origin(_ head: AnswerHead, _ receivedAt: Moment) -> Moment {
        head.headers.date(receivedAt: receivedAt).map { Moment($0) } ?? receivedAt
    }
}

extension ResponseHeaders {
    /// How old the answer was on arrival: the corrected initial age (RFC 9111, section 4.2.3). It is never negative, and in doubt too great.
    func age(requestedAt: Moment, receivedAt: Moment) -> Duration {
        // `Date` has no fraction of a second, so the fraction of the apparent age means nothing.
        let sent = date(receivedAt: receivedAt).map { Moment($0) }
        let apparent: Duration = sent.map { .seconds(max(.zero, receivedAt - $0).components.seconds) } ?? .zero
        // A clock that was set back during the fetch must not make the delay negative.
        let delay = max(.zero, receivedAt - requestedAt)
        return max(apparent, .seconds(toldAge) + delay)
    }

    /// `Age`, or 0. Only the first member of the first line counts, and only if it is a number (RFC 9111, section 5.1).
    private var toldAge: Int64 {
        guard has("age"), let line = self["age"], let first = line.split(separator: ",", maxSplits: 1).first else { return 0 }
        return DeltaSeconds.parse(String(first).trimmedOfBlanks) ?? 0
    }

    /// `Date`; nil when it is missing or unreadable.
    func date(receivedAt: Moment) -> HTTPDate? {
        guard has("date") else { return nil }
        return self["date"].flatMap { HTTPDate($0, now: receivedAt.secondsSince1970) }
    }
}
