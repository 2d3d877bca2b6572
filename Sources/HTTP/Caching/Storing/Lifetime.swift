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
        guard head.permitsGuesses, StatusCode.isHeuristicallyCacheable(head.status) || head.control.isPublic else { return .zero }
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
        AnswerAge.date(of: head.headers, receivedAt: receivedAt).map { Moment($0) } ?? receivedAt
    }
}

/// How old an answer was on arrival (RFC 9111, section 4.2.3).
enum AnswerAge {
    /// The corrected initial age. It is never negative, and in doubt too great.
    static func corrected(_ headers: ResponseHeaders, requestedAt: Moment, receivedAt: Moment) -> Duration {
        // `Date` has no fraction of a second, so the fraction of the apparent age means nothing.
        let apparent = date(of: headers, receivedAt: receivedAt).map { max(.zero, (receivedAt - Moment($0)).wholeSeconds) } ?? .zero
        // A clock that was set back during the fetch must not make the delay negative.
        let delay = max(.zero, receivedAt - requestedAt)
        return max(apparent, .seconds(told(by: headers)) + delay)
    }

    /// `Age`, or 0. Only the first member of the first line counts, and only if it is a number (RFC 9111, section 5.1).
    private static func told(by headers: ResponseHeaders) -> Int64 {
        guard headers.has("age"), let line = headers["age"], let first = line.split(separator: ",", maxSplits: 1).first else { return 0 }
        return DeltaSeconds.parse(String(first).trimmedOfBlanks) ?? 0
    }

    /// `Date`; nil when it is missing or unreadable.
    static func date(of headers: ResponseHeaders, receivedAt: Moment) -> HTTPDate? {
        guard headers.has("date") else { return nil }
        return headers["date"].flatMap { HTTPDate($0, now: receivedAt.secondsSince1970) }
    }
}

extension Duration {
    fileprivate var wholeSeconds: Duration { .seconds(components.seconds) }
}
