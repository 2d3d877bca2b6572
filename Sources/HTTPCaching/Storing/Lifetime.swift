internal import HTTPEngine

/// For how long an answer is fresh, counted from when its origin made it (RFC 9111, section 4.2.1).
struct Lifetime: Hashable {
    let duration: Duration
    let source: Freshness.Source

    /// - Parameter isRedirect: Whether it leads on; then nothing is guessed from `Last-Modified`, which is about something else.
    init(of head: AnswerHead, receivedAt: Moment, policy: FreshnessPolicy, isRedirect: Bool = false) {
        let explicit = Self.explicit(head, receivedAt: receivedAt)
        let guess = isRedirect ? Self.guess(redirect: head, policy) : Self.guess(head, receivedAt: receivedAt, policy)
        (duration, source) = explicit ?? (guess, guess == .zero ? .unknown : .heuristic)
    }

    /// What the answer says, the first that is there; nil when it says nothing. What cannot be read is over, and so is what contradicts itself.
    private static func explicit(_ head: AnswerHead, receivedAt: Moment) -> (Duration, Freshness.Source)? {
        let control = head.control
        if control.isMalformed { return (.zero, .invalid) }
        for (value, source) in [(control.sharedMaxAge, Freshness.Source.sharedMaxAge), (control.maxAge, .maxAge)] {
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
        // Both by the origin's clock, however wrong it is.
        return (max(.zero, Moment(expires) - origin(head, receivedAt)), .expires)
    }

    /// A part of the time for which it had not changed (RFC 9111, section 4.2.2).
    private static func guess(_ head: AnswerHead, receivedAt: Moment, _ policy: FreshnessPolicy) -> Duration {
        guard head.permitsGuesses, StatusCode.isHeuristicallyCacheable(head.status) || head.control.isPublic else { return .zero }
        guard head.headers.has("last-modified"), let text = head.headers["last-modified"],
            let modified = HTTPDate(text, now: receivedAt.secondsSince1970)
        else { return policy.heuristicMinimum }
        let unchanged = max(.zero, origin(head, receivedAt) - Moment(modified))
        return max(policy.heuristicMinimum, min(unchanged * policy.heuristicFraction, policy.heuristicMaximum))
    }

    private static func guess(redirect head: AnswerHead, _ policy: FreshnessPolicy) -> Duration {
        guard head.permitsGuesses else { return .zero }
        return StatusCode.isPermanentRedirect(head.status) ? policy.heuristicMaximum : policy.heuristicMinimum
    }

    private static func origin(_ head: AnswerHead, _ receivedAt: Moment) -> Moment {
        AnswerAge.date(of: head.headers, receivedAt: receivedAt).map { Moment($0) } ?? receivedAt
    }
}
