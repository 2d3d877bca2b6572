extension StoredAnswer {
    /// The same, told by a clock by which it came at that moment: machines' clocks differ, and one is set right now and then.
    package func received(at moment: Moment) -> StoredAnswer {
        let shift = moment - receivedAt
        var freshness = freshness
        freshness.generatedAt = freshness.generatedAt + shift
        freshness.freshUntil = freshness.freshUntil + shift
        freshness.staleWhileRevalidateUntil = freshness.staleWhileRevalidateUntil + shift
        freshness.staleIfErrorUntil = freshness.staleIfErrorUntil + shift
        return StoredAnswer(
            canonicalURL: canonicalURL, finalURL: finalURL, status: status, headers: headers, requestedAt: requestedAt + shift,
            receivedAt: moment, freshness: freshness, selecting: selecting, variant: variant, isForEverybody: isForEverybody,
            digest: digest,
            byteCount: byteCount)
    }
}
