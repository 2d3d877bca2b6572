extension StoredAnswer {
    /// For how long others may use this answer from now on.
    package func retention(at now: Moment, policy: FreshnessPolicy) -> SharedRetention {
        let ends = max(freshness.freshUntil, freshness.staleWhileRevalidateUntil, freshness.staleIfErrorUntil)
        // With something to ask by, a stale answer still saves its body's way.
        let kept = max(ends - now, conditions.isEmpty ? .zero : policy.maximumStaleness)
        return SharedRetention(fresh: max(.zero, freshness.freshUntil - now), keep: max(.seconds(1), kept))
    }
}
