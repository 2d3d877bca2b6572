package import GannetHTTP

/// An answer as a caller gets it.
package struct ServedAnswer: Sendable {
    package var finalURL: String
    package var status: Int
    package var body: [UInt8]
    package var source: AnswerSource
    /// The facts that are kept with the answer; nil when it is not kept.
    var facts: StoredAnswer?
    /// Whether a cache between several users may give it to one request alone.
    var isForOneRequest = false
    private let headersNow: @Sendable () -> ResponseHeaders

    init(_ answer: CachedAnswer, _ source: AnswerSource, at now: Moment) {
        let facts = answer.facts
        finalURL = facts.finalURL
        status = facts.status
        body = answer.body
        self.source = source
        self.facts = facts
        headersNow = { facts.headers(at: now, isConfirmed: source == .revalidated) }
    }

    init(_ download: Download, body: [UInt8]) {
        finalURL = download.finalURL
        status = download.status
        self.body = body
        source = .network
        headersNow = { [headers = download.headers] in headers }
    }

    /// Whether the answer is kept.
    package var isKept: Bool { facts != nil }

    /// For how long the answer stays fresh; negative for a stale one, nil for one that is not kept.
    package func freshFor(at now: Moment) -> Duration? { facts.map { $0.freshness.freshUntil - now } }

    /// The digest of the body; nil for an answer that is not kept.
    package var digest: SHA256Digest? { facts?.digest }

    /// Of a kept answer they are made when they are asked for, because they have its `Age`, and most callers want the body alone.
    package var headers: ResponseHeaders { headersNow() }
}

/// The place that an answer came from.
public enum AnswerSource: String, Sendable, Hashable, CaseIterable {
    case memory, disk
    /// The shared tier: another process had fetched it.
    case shared
    case network
    /// A kept answer whose origin has confirmed that it is still current.
    case revalidated
    /// A kept answer that is out of date. Its origin could not be asked, or is being asked in the background.
    case stale
}

/// An answer with its body, as it is kept.
package struct CachedAnswer: Sendable, Hashable {
    package var facts: StoredAnswer
    package var body: [UInt8]

    package init(facts: StoredAnswer, body: [UInt8]) {
        self.facts = facts
        self.body = body
    }

    /// The bytes of memory that it takes, rounded up. An empty body may come with 20 KB of headers and URLs.
    var cost: Int { body.count + 1024 + facts.variableSize }

    /// The answer that came later.
    static func newer(_ one: Self?, _ other: Self?) -> Self? {
        guard let one, let other else { return one ?? other }
        return one.facts.receivedAt < other.facts.receivedAt ? other : one
    }
}
