package import HTTPEngine

/// What is kept of an answer besides its body.
package struct StoredAnswer: Sendable, Hashable {
    /// The canonical form of the URL that was asked for, under which the answer is kept. May hold a password: not for printing.
    package let canonicalURL: String
    /// The URL that answered.
    package let finalURL: String
    package let status: Int
    package let headers: KeptHeaders
    /// When it was asked for, or its origin last asked whether it still holds.
    package let requestedAt: Moment
    package let receivedAt: Moment
    package let freshness: Freshness
    package let selecting: SelectingHeaders
    package let variant: VariantKey
    /// Whether its origin says that it is everybody's.
    package let isForEverybody: Bool
    package let digest: SHA256Digest
    /// The length of the body, unpacked.
    package let byteCount: Int64

    /// - Parameter terms: What `StorageDecision` said of the exchange.
    package init(
        _ exchange: Exchange, terms: StorageDecision.Terms, canonicalURL: String, digest: SHA256Digest, byteCount: Int64
    ) {
        self.init(
            canonicalURL: canonicalURL, finalURL: exchange.finalURL, status: exchange.status, headers: terms.headers,
            requestedAt: exchange.requestedAt, receivedAt: exchange.receivedAt, freshness: terms.freshness, selecting: terms.selecting,
            variant: terms.variant, isForEverybody: terms.isForEverybody, digest: digest, byteCount: byteCount)
    }

    init(
        canonicalURL: String, finalURL: String, status: Int, headers: KeptHeaders, requestedAt: Moment, receivedAt: Moment,
        freshness: Freshness, selecting: SelectingHeaders, variant: VariantKey, isForEverybody: Bool, digest: SHA256Digest, byteCount: Int64
    ) {
        self.canonicalURL = canonicalURL
        self.finalURL = finalURL
        self.status = status
        self.headers = headers
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        self.freshness = freshness
        self.selecting = selecting
        self.variant = variant
        self.isForEverybody = isForEverybody
        self.digest = digest
        self.byteCount = byteCount
    }

    /// The `Content-Type` as sent, cut at 256 characters.
    package var contentType: String? { headers.headers["content-type"].map { String($0.prefix(256)) } }

    /// The bytes of what has no fixed size, by the origin's choice.
    package var variableSize: Int { headers.variableSize + canonicalURL.utf8.count + finalURL.utf8.count }

    /// What a request needs so that its answer may be 304; empty when nothing tells answers apart.
    package var conditions: [HeaderField] { headers.validators.conditions }

    /// How long its fetch took, or the last request whether it still holds.
    package var fetchDuration: Duration { max(.zero, receivedAt - requestedAt) }
}
