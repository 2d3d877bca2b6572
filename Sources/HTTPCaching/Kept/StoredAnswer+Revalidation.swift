internal import HTTPEngine

/// What a 304 makes of the answer it is about (RFC 9111, section 4.3.4).
package enum Revalidation: Sendable, Hashable {
    /// It holds, and this is to be kept in its place.
    case confirmed(StoredAnswer)
    /// It holds for those who wait, but this is nothing to keep; whether what is kept stays says `Reason.outdatesKept`.
    case confirmedOnce(StorageDecision.Reason)
    /// The 304 is about something else: the URL has to be fetched without conditions.
    case unusable(Mismatch)

    package enum Mismatch: String, Sendable, Hashable, CaseIterable {
        case notNotModified
        case otherURL
        case otherVariant
        case otherEntityTag
        case otherLastModified
    }
}

extension StoredAnswer {
    /// - Parameter news: An exchange whose request had `conditions`, and no others.
    package func revalidated(by news: Exchange, policy: FreshnessPolicy) -> Revalidation {
        if let mismatch = mismatch(with: news) { return .unusable(mismatch) }
        // The kept answer as it would have come now. What tells its age are the news' own headers: it was confirmed, so it is new.
        var merged = news
        merged.status = status
        merged.headers = headers.updated(by: news.headers)
        switch StorageDecision(for: merged, policy: policy) {
        case .refuse(let reason): return .confirmedOnce(reason)
        case .keep(let terms):
            return .confirmed(
                StoredAnswer(merged, terms: terms, canonicalURL: canonicalURL, digest: digest, byteCount: byteCount))
        }
    }

    private func mismatch(with news: Exchange) -> Revalidation.Mismatch? {
        guard news.status == 304 else { return .notNotModified }
        // A tag tells states of one resource apart; elsewhere the same one may mean anything.
        guard Self.isSame(news.finalURL, finalURL) else { return .otherURL }
        guard VariantKey(selecting, request: news.request.headers) == variant else { return .otherVariant }
        let theirs = Validators(news.headers)
        let ours = headers.validators
        if news.headers.has("etag") {
            guard let tag = theirs.entityTag, let kept = ours.entityTag else { return .otherEntityTag }
            return (tag.isWeak ? tag.matchesWeakly(kept) : tag.matchesStrongly(kept)) ? nil : .otherEntityTag
        }
        if news.headers.has("last-modified") {
            guard let date = theirs.lastModified, date == ours.lastModified else { return .otherLastModified }
        }
        // Without any it is about the only answer that the request named.
        return nil
    }

    /// Another caller may have written the URL in another way.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        if one == other { return true }
        guard let one = try? CanonicalURL(one), let other = try? CanonicalURL(other) else { return false }
        return one.text == other.text
    }
}
