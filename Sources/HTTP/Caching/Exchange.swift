/// The facts of a request that a cache needs. The method is GET.
package struct RequestFacts: Sendable, Hashable {
    /// The URL as it is requested.
    package let url: String
    /// Whether the request identifies its sender: `Authorization`, a cookie, an API key, a password in the URL.
    /// The answer may then be for this sender alone.
    package let hasCredentials: Bool
    /// Whether the request asks for a part, or for changes only. A kept answer is a whole body, so it does not answer such a request.
    let isSpecial: Bool
    package let control: CacheControl

    package init(url: String, headers: [HeaderField] = []) {
        self.url = url
        hasCredentials = headers.contains(where: \.isCredential) || RedactedURL.withoutUserInfo(url) != url
        isSpecial = headers.contains(where: \.asksForPartOrNews)
        control = CacheControl(request: headers)
    }
}

/// An answer, the request that it answers, and the times of both.
package struct Exchange: Sendable, Hashable {
    package var request: RequestFacts
    /// The URL that answered, after redirects.
    package var finalURL: String
    package var status: Int
    package var headers: ResponseHeaders
    /// The redirects before the answer, in order. The kept answer is only as good as the weakest of them.
    package var redirects: [Download.Hop] = []
    /// When the request was sent, by the wall clock.
    package var requestedAt: Moment
    /// When the answer was there, by the same clock.
    package var receivedAt: Moment
    /// Whether the body is an image by its bytes. It counts only where `Content-Type` leaves the type open.
    package var hasImageBody = false
}

extension Exchange {
    package init(_ download: Download, request: RequestFacts, requestedAt: Moment, receivedAt: Moment) {
        self.init(
            request: request, finalURL: download.finalURL, status: download.status, headers: download.headers, redirects: download.hops,
            requestedAt: requestedAt, receivedAt: receivedAt)
    }

    /// Whether every hop used TLS, so that nobody on the way could have changed the answer.
    var isAuthenticated: Bool {
        ([request.url, finalURL] + redirects.map(\.url)).allSatisfy { $0.prefix(8).lowercased() == "https://" }
    }

    /// The answer after all redirects.
    var finalHead: AnswerHead { AnswerHead(status: status, headers: headers, hasImageBody: hasImageBody) }

    /// The redirects before the answer, in order.
    var redirectHeads: [AnswerHead] { redirects.map { AnswerHead(status: $0.status, headers: $0.headers) } }
}

/// The status and headers of one answer of an exchange, which may be a redirect.
struct AnswerHead {
    let status: Int
    let headers: ResponseHeaders
    let control: CacheControl
    private let hasImageBody: Bool

    init(status: Int, headers: ResponseHeaders, hasImageBody: Bool = false) {
        self.status = status
        self.headers = headers
        self.hasImageBody = hasImageBody
        control = CacheControl(headers)
    }

    /// Whether a lifetime may be guessed where the answer gives none. An answer that sets a cookie may be a visitor's own, so its is not.
    var permitsGuesses: Bool { !headers.has("set-cookie") }

    /// Whether the answer is an image by its type, or by its body where the type is left open.
    var isImage: Bool { headers.leaveTypeOpen ? hasImageBody : headers.mediaType?.hasPrefix("image/") ?? false }

    /// Whether an answer of this status may be kept for a guessed time (RFC 9110, section 15.1; 451: RFC 7725, section 3).
    /// RFC 9110 lists 206 too, for caches that join parts; this one does not.
    var isHeuristicallyCacheable: Bool { [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 451, 501].contains(status) }

    /// Whether this cache knows the rules for the status, which `must-understand` requires (RFC 9111, section 5.2.2.3).
    var isUnderstood: Bool {
        switch status {
        case 200...205, 300...303, 307, 308, 400...415, 417, 421, 422, 426, 451, 500...505: true
        default: false
        }
    }

    /// Names of headers that are not kept, because they belong to this connection or this answer alone (RFC 9111, section 3.1).
    var namesNotKept: Set<String> {
        let connection = headers.has("connection") ? headers.values(of: "connection") : []
        if control.noCache == .absent, control.isPrivate == .absent {
            if connection.isEmpty { return [] }
            if connection.count == 1, connection[0].lowercased() == "keep-alive" { return Self.usualNamesNotKept }
        }
        return control.noCache.names.union(control.isPrivate.names).union(
            connection.flatMap { HeaderList($0).members }.map { $0.lowercased() })
    }

    private static let usualNamesNotKept: Set<String> = ["keep-alive"]
}

extension ResponseHeaders {
    /// Whether `Content-Type` leaves open what the body is, so that its bytes have to tell.
    package var leaveTypeOpen: Bool { mediaType.map { ["application/octet-stream", "binary/octet-stream"].contains($0) } ?? true }

    /// The `Content-Type` in small letters, without its parameters; nil when it is missing or empty.
    fileprivate var mediaType: String? {
        guard has("content-type"), let type = self["content-type"]?.split(separator: ";").first else { return nil }
        let name = String(type).trimmedOfBlanks.lowercased()
        return name.isEmpty ? nil : name
    }
}
