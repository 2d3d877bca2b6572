import Testing

@testable import GannetHTTP

/// Answers as tests need them.
enum Kept {
    static let url = "https://example.org/a"
    static let request = RequestFacts(url: url)

    static func exchange(
        _ lines: [String], status: Int = 200, request: RequestFacts = Kept.request, finalURL: String? = nil, at received: Moment = .came,
        took: Duration = .zero
    ) -> Exchange {
        Exchange(
            request: request, finalURL: finalURL ?? request.url, status: status, headers: HTTPLines.headers(lines),
            requestedAt: received - took,
            receivedAt: received)
    }

    static func answer(
        _ lines: [String], request: RequestFacts = Kept.request, finalURL: String? = nil, took: Duration = .zero,
        policy: FreshnessPolicy = FreshnessPolicy()
    ) throws -> StoredAnswer {
        try answer(exchange(lines, request: request, finalURL: finalURL, took: took), policy: policy)
    }

    static func answer(_ exchange: Exchange, policy: FreshnessPolicy = FreshnessPolicy()) throws -> StoredAnswer {
        let decision = StorageDecision(for: exchange, policy: policy)
        guard case .keep(let terms) = decision else {
            Issue.record("not kept: \(decision)")
            throw CancellationError()
        }
        return StoredAnswer(exchange, terms: terms, canonicalURL: url, digest: SHA256Digest(of: "body".utf8), byteCount: 4)
    }
}
