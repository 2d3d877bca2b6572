/// An answer as it is kept, without its body.
package struct StoredAnswer: Sendable, Hashable {
    /// The key of the answer: the canonical form of the requested URL. It may hold a password, so it is not printed.
    package let canonicalURL: String
    /// The URL that answered.
    package let finalURL: String
    package let status: Int
    package let headers: KeptHeaders
    /// When the request was sent: the first one, or the last revalidation.
    package internal(set) var requestedAt: Moment
    package internal(set) var receivedAt: Moment
    package internal(set) var freshness: Freshness
    /// Whether the origin says that the answer is for everybody.
    package let isForEverybody: Bool
    package let digest: SHA256Digest
    /// The length of the unpacked body.
    package let byteCount: Int64
    /// All headers, in the tiers that have room for them. Without them a client gets `headers`.
    package internal(set) var message: ResponseHeaders?
}

extension StoredAnswer {
    /// - Parameter terms: The terms of `StorageDecision` for the exchange.
    package init(
        _ exchange: Exchange, terms: StorageDecision.Terms, canonicalURL: String, digest: SHA256Digest, byteCount: Int64
    ) {
        self.init(
            canonicalURL: canonicalURL, finalURL: exchange.finalURL, status: exchange.status, headers: terms.headers,
            requestedAt: exchange.requestedAt, receivedAt: exchange.receivedAt, freshness: terms.freshness,
            isForEverybody: terms.isForEverybody, digest: digest, byteCount: byteCount)
    }

    /// An answer of which only its tag and its date are known. Its body is its caller's own, so it may be kept whatever the answer said. Nil where
    /// the origin cannot be asked about it.
    /// - Parameter url: The request's URL in its canonical form.
    package init?(
        _ request: RequestFacts, _ url: String, from finalURL: String, status: Int, entityTag: String, lastModified: String,
        at time: Moment,
        digest: SHA256Digest, byteCount: Int64
    ) {
        let known = [("etag", entityTag), ("last-modified", lastModified)].filter { !$1.isEmpty }
        let exchange = Exchange(
            request: request, finalURL: finalURL, status: status,
            headers: ResponseHeaders(known.map { (name: $0, value: $1) } + [(name: "cache-control", value: "public")]), requestedAt: time,
            receivedAt: time)
        guard case .keep(let terms) = StorageDecision(for: exchange, policy: .init()) else { return nil }
        self.init(exchange, terms: terms, canonicalURL: url, digest: digest, byteCount: byteCount)
        if conditions.isEmpty { return nil }
    }

    /// The `Content-Type` as sent, cut at 256 characters.
    package var contentType: String? { headers.headers["content-type"].map { String($0.prefix(256)) } }

    /// The bytes of the texts, whose lengths the origin chooses.
    package var variableSize: Int {
        headers.variableSize + canonicalURL.utf8.count + finalURL.utf8.count + (message?.byteCount ?? 0)
    }

    /// The request headers that let the origin answer 304; empty without a tag and a date.
    package var conditions: [HeaderField] { headers.validators.conditions }

    /// How long the fetch took, or the last revalidation.
    package var fetchDuration: Duration { max(.zero, receivedAt - requestedAt) }

    /// The same answer as if it had come at this moment by another clock: clocks of machines differ, and are corrected now and then.
    package func received(at moment: Moment) -> StoredAnswer {
        let shift = moment - receivedAt
        var answer = self
        answer.requestedAt = requestedAt + shift
        answer.receivedAt = moment
        answer.freshness.generatedAt = freshness.generatedAt + shift
        answer.freshness.freshUntil = freshness.freshUntil + shift
        answer.freshness.staleWhileRevalidateUntil = freshness.staleWhileRevalidateUntil + shift
        answer.freshness.staleIfErrorUntil = freshness.staleIfErrorUntil + shift
        return answer
    }

    /// For how long others may use this answer from now on.
    package func retention(at now: Moment, policy: FreshnessPolicy) -> SharedRetention {
        let ends = max(freshness.freshUntil, freshness.staleWhileRevalidateUntil, freshness.staleIfErrorUntil)
        // With a tag or a date, a stale answer still saves the transfer of its body.
        let kept = max(ends - now, headers.haveValidators ? policy.maximumStaleness : .zero)
        return SharedRetention(fresh: max(.zero, freshness.freshUntil - now), keep: max(.seconds(1), kept))
    }
}

/// For how long other processes may use an answer.
package struct SharedRetention: Sendable, Hashable {
    package var fresh: Duration
    /// The answer is stale from `fresh` on. Until `keep` it serves for revalidation, and after a failed fetch.
    package var keep: Duration
}

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
