internal import HTTPEngine

/// Status and headers of one answer, read as far as caching goes by them.
struct AnswerHead {
    let status: Int
    let headers: ResponseHeaders
    let control: CacheControl

    init(status: Int, headers: ResponseHeaders) {
        self.status = status
        self.headers = headers
        control = CacheControl(headers)
    }

    /// Whether anything may be assumed of it that it does not say. Not of one that sets a cookie: it may be a visitor's own.
    var permitsGuesses: Bool { !headers.has("set-cookie") }

    /// Names of headers that are not to be kept: for this connection alone, or for this answer alone (RFC 9111, section 3.1).
    var namesNotKept: Set<String> {
        let connection = headers.has("connection") ? headers.values(of: "connection") : []
        return control.noCache.names.union(control.isPrivate.names).union(
            connection.flatMap { HeaderList($0).members }.map { $0.lowercased() })
    }
}
