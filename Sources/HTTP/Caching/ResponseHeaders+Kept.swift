/// All headers of an answer that a cache may keep for its clients (RFC 9111, section 3.1), line by line as they came.
///
/// `KeptHeaders` is the short list beside them: it decides about the answer's use, and fits into an outcome in Redis.
extension ResponseHeaders {
    /// The most bytes of all lines that are kept. Of an answer with more, the short list alone is kept.
    static let mostKept = 16 * 1024

    /// Nil when the lines are too long to be kept.
    var ifFew: ResponseHeaders? { byteCount <= Self.mostKept ? self : nil }

    /// The lines that may be kept. A message without `Date` gets the moment at which it came (RFC 9110, section 6.6.1). Left out are:
    /// - headers of one connection, and those that the answer keeps from others (`private="x"`, `no-cache="x"`)
    /// - cookies, because each belongs to one visitor
    /// - `Age`, which is counted anew for each client
    /// - `Content-Encoding`, and with it `Content-Length`: bodies are kept unpacked
    func storable(receivedAt: Moment) -> ResponseHeaders {
        var dropped = AnswerHead(status: 200, headers: self).namesNotKept.union(Self.neverKept)
        if has("content-encoding") { dropped.insert("content-length") }
        let kept = ResponseHeaders(lines: self.lines(where: { !dropped.contains($0) }))
        return kept.has("date") ? kept : kept.adding([("Date", receivedAt.httpDate)])
    }

    /// The headers of a 304 replace the kept ones of the same names (RFC 9111, section 3.2), except those that are about a body: a 304 has
    /// none. Nil when all lines together are too long.
    func updated(by news: ResponseHeaders, receivedAt: Moment) -> ResponseHeaders? {
        let news = ResponseHeaders(lines: news.storable(receivedAt: receivedAt).lines(where: { !Self.ofBodies.contains($0) }))
        let replaced = Set(news.fields.map { $0.name.lowercased() })
        return ResponseHeaders(lines: self.lines(where: { !replaced.contains($0) }) + news.bytes).ifFew
    }

    private static let neverKept: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization", "set-cookie", "set-cookie2", "age", "content-encoding",
    ]
    private static let ofBodies: Set<String> = ["content-length", "content-encoding", "content-range"]
}

extension StoredAnswer {
    /// The answer with all headers of its exchange, for the tiers that have room for them.
    package func withMessage(of exchange: Exchange) -> StoredAnswer {
        var answer = self
        answer.message = exchange.headers.storable(receivedAt: exchange.receivedAt).ifFew
        return answer
    }

    /// The headers for a client (RFC 9111, section 4), with `Age` and `Date`.
    ///
    /// - Parameter isConfirmed: Whether the origin has confirmed the answer for this client. Such an answer has an `Age` only if it came from
    ///   another cache (RFC 9111, section 5.1).
    package func headers(at now: Moment, isConfirmed: Bool) -> ResponseHeaders {
        let all = message ?? headers.headers.adding([("Date", freshness.generatedAt.httpDate)])
        let age = freshness.age(at: now).components.seconds
        return isConfirmed && age == 0 ? all : all.adding([("Age", "\(min(age, DeltaSeconds.forever))")])
    }
}

/// The headers of a failure that is remembered, as its callers get them.
package struct FailureHeaders: Sendable, Hashable {
    private let headers: ResponseHeaders
    private let generatedAt: Moment

    /// - Parameter headers: Empty unless the failure is an answer.
    package init(_ headers: ResponseHeaders, receivedAt: Moment) {
        self.headers = headers.byteCount == 0 ? headers : headers.storable(receivedAt: receivedAt)
        generatedAt = receivedAt - headers.age(requestedAt: receivedAt, receivedAt: receivedAt)
    }

    package var byteCount: Int { headers.byteCount }

    package func headers(at now: Moment) -> ResponseHeaders {
        if headers.byteCount == 0 { return headers }
        let age = max(.zero, now - generatedAt).components.seconds
        return headers.adding([("Age", "\(min(age, DeltaSeconds.forever))")])
    }
}
