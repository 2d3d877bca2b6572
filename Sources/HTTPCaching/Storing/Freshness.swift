/// Until when an answer may be used, and how, by what it said and how old it was when it came.
package struct Freshness: Sendable, Hashable {
    /// Where a lifetime comes from.
    package enum Source: UInt8, Sendable, Hashable, CaseIterable {
        /// Nothing said and nothing to guess by: stale from the start.
        case unknown = 0
        case sharedMaxAge = 1
        case maxAge = 2
        case expires = 3
        /// Guessed.
        case heuristic = 4
        /// What was said cannot be read, or contradicts itself: stale from the start.
        case invalid = 5
    }

    /// When its origin made it, or confirmed it last: its age counts from here.
    package var generatedAt: Moment
    /// Before this it may be used as it is.
    package var freshUntil: Moment
    /// Before this it may be used while somebody asks the origin. Not before `freshUntil`.
    package var staleWhileRevalidateUntil: Moment
    /// Before this it may be used when the origin could not be asked. Not before `freshUntil`.
    package var staleIfErrorUntil: Moment
    /// Whether its origin forbids to use it stale, whatever a caller is content with.
    package var mustRevalidate: Bool
    /// Whether its origin says that it does not change while it is fresh (RFC 8246).
    package var isImmutable: Bool
    package var source: Source

    package func age(at now: Moment) -> Duration { max(.zero, now - generatedAt) }

    package func isFresh(at now: Moment) -> Bool { now < freshUntil }
}
