/// For how long others may use a committed answer.
package struct SharedRetention: Sendable, Hashable {
    package var fresh: Duration
    /// Stale from `fresh` on, and of use for a revalidation or in need.
    package var keep: Duration

    package init(fresh: Duration, keep: Duration) {
        self.fresh = fresh
        self.keep = keep
    }
}

extension StoredAnswer {
    /// For how long others may use this answer from now on.
    package func retention(at now: Moment, policy: FreshnessPolicy) -> SharedRetention {
        let ends = max(freshness.freshUntil, freshness.staleWhileRevalidateUntil, freshness.staleIfErrorUntil)
        // With something to ask by, a stale answer still saves its body's way.
        let kept = max(ends - now, conditions.isEmpty ? .zero : policy.maximumStaleness)
        return SharedRetention(fresh: max(.zero, freshness.freshUntil - now), keep: max(.seconds(1), kept))
    }
}
