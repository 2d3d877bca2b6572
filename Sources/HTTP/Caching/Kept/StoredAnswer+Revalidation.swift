/// The effect of a 304 on the answer that it is about (RFC 9111, section 4.3.4).
package enum Revalidation: Sendable, Hashable {
    /// The answer holds. This one replaces it.
    case confirmed(StoredAnswer)
    /// The answer holds for the callers that wait, but is not kept anew. `Reason.outdatesKept` says whether the kept one stays.
    case confirmedOnce(StorageDecision.Reason)
    /// The 304 is about another answer, so the URL is fetched without conditions.
    case unusable
}

extension StoredAnswer {
    /// - Parameter news: An exchange whose request had `conditions`, and no other conditions.
    package func revalidated(by news: Exchange, policy: FreshnessPolicy) -> Revalidation {
        guard isMeant(by: news) else { return .unusable }
        // The kept answer as if it came now. The age comes from the headers of the 304 alone, because the origin has just confirmed it.
        var merged = news
        merged.status = status
        merged.headers = headers.updated(by: news.headers)
        switch StorageDecision(for: merged, policy: policy) {
        case .refuse(let reason): return .confirmedOnce(reason)
        case .keep(let terms):
            var answer = StoredAnswer(merged, terms: terms, canonicalURL: canonicalURL, digest: digest, byteCount: byteCount)
            answer.message = message?.updated(by: news.headers, receivedAt: news.receivedAt)
            return .confirmed(answer)
        }
    }

    /// The answer for the callers that wait, after a 304 that does not let it be kept.
    package func confirmedOnce(by news: Exchange) -> StoredAnswer {
        var answer = self
        answer.message = message?.updated(by: news.headers, receivedAt: news.receivedAt)
        answer.freshness.generatedAt = news.receivedAt
        return answer
    }

    private func isMeant(by news: Exchange) -> Bool {
        // A tag names a state of one resource. At another URL the same tag may mean anything.
        guard news.status == 304, Self.isSame(news.finalURL, finalURL) else { return false }
        let (theirs, ours) = (Validators(news.headers), headers.validators)
        if news.headers.has("etag") {
            guard let tag = theirs.entityTag, let kept = ours.entityTag else { return false }
            return tag.isWeak ? tag.matchesWeakly(kept) : tag.matchesStrongly(kept)
        }
        // A 304 without a tag and a date is about the only answer that the request named.
        return !news.headers.has("last-modified") || theirs.lastModified != nil && theirs.lastModified == ours.lastModified
    }

    /// Two callers may have written one URL in different ways.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        if one == other { return true }
        guard let one = try? CanonicalURL(one), let other = try? CanonicalURL(other) else { return false }
        return one.text == other.text
    }
}
