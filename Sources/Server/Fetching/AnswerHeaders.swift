internal import GannetFetch
internal import GannetHTTP

/// The headers of a body that is handed on to a client.
struct AnswerHeaders {
    typealias Field = (name: String, value: String)

    /// The headers of the origin that reach clients. Others could change how a browser treats this gateway, or be orders to a proxy in front of it.
    private static let passed: Set<String> = [
        "age", "cache-control", "content-language", "content-type", "date", "etag", "expires", "last-modified", "vary",
    ]
    /// A fetched page is shown in a sandbox without an origin, if a browser shows it at all: it can neither read from the gateway nor ask it.
    private static let guards: [Field] = [
        ("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'"), ("X-Content-Type-Options", "nosniff"),
        ("Content-Disposition", "attachment"), ("Cross-Origin-Resource-Policy", "same-origin"), ("Referrer-Policy", "no-referrer"),
    ]

    /// Headers that the gateway writes itself, or that are about the connection to the origin.
    private static let own = Set(guards.map { $0.name.lowercased() }).union([
        "accept-ranges", "cache-status", "connection", "content-encoding", "content-length", "content-range", "etag", "keep-alive",
        "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ])

    /// Whether an operator may have an origin's header handed on.
    /// - Parameter name: In small letters.
    static func mayPass(_ name: String) -> Bool { !name.isEmpty && name.utf8.allSatisfy(\.isTokenByte) && !own.contains(name) }

    let tag: EntityTag?
    let all: [Field]
    private let headers: ResponseHeaders?

    /// - Parameter alsoPassed: Names of further headers, in small letters, that the operator wants to reach clients.
    init(_ answer: ServedAnswer, alsoPassed: Set<String>, at now: Moment) {
        // A body without a tag of its origin has its digest for one.
        self.init(
            answer.headers, answer.digest.flatMap { EntityTag(Array("\"\($0)\"".utf8)) }, Self.status(of: answer, at: now), alsoPassed)
    }

    /// Of a body that is still coming.
    init(_ head: GrowingBody.Head, alsoPassed: Set<String>) {
        self.init(head.headers, nil, "gannet; fwd=miss; fwd-status=\(head.status)", alsoPassed)
    }

    /// Of a thumbnail, which is fresh for as long as its picture.
    init(_ thumbnail: [UInt8], type: String, of source: ServedAnswer, wasKept: Bool, at now: Moment) {
        tag = EntityTag(Array("\"\(SHA256Digest(of: thumbnail))\"".utf8))
        headers = nil
        var fields: [Field] = source.headers.fields { ["age", "cache-control", "date", "expires"].contains($0) }
        fields += [("Content-Type", type), ("Vary", "Accept"), ("Cache-Status", Self.status(of: source, at: now))]
        if let tag { fields.append(("ETag", tag.text)) }
        fields.append(("Cache-Status", wasKept ? "gannet-thumbnail; hit" : "gannet-thumbnail; fwd=miss"))
        all = fields + Self.guards
    }

    /// Of a kept body that no client asks to be fetched.
    init(kept type: String, _ tag: EntityTag?, maximumAge: Int) {
        self.tag = tag
        headers = nil
        var fields: [Field] = [("Content-Type", type), ("Vary", "Accept")]
        fields.append(("Cache-Control", maximumAge > 0 ? "private, max-age=\(maximumAge), immutable" : "private, no-cache"))
        if let tag { fields.append(("ETag", tag.text)) }
        all = fields + Self.guards
    }

    private init(_ headers: ResponseHeaders, _ ownTag: @autoclosure () -> EntityTag?, _ status: String, _ alsoPassed: Set<String>) {
        let tag = Validators.entityTag(of: headers) ?? ownTag()
        self.tag = tag
        self.headers = headers
        // Some proxies take an answer with such a value for a broken one.
        var fields = headers.fields { $0 != "etag" && Self.passed.contains($0) || alsoPassed.contains($0) }
            .filter { $0.value.utf8.allSatisfy(\.isValueByte) }
        if let tag { fields.append(("ETag", tag.text)) }
        fields.append(("Accept-Ranges", "bytes"))
        fields.append(("Cache-Status", status))
        all = fields + Self.guards
    }

    /// Read when it is asked for: most clients have no body to compare.
    var lastModified: String? { headers.flatMap { Validators.lastModified(of: $0) } }

    /// 304 for a client that has this state of the body. It has no headers that describe a body.
    func unchanged(_ conditions: ClientConditions, at now: Moment = .now) -> HTTPServiceAnswer? {
        guard conditions.isCurrent(tag, lastModified: lastModified, now: now.millisecondsSince1970 / 1000) else { return nil }
        let ofBody = ["content-type", "content-language", "accept-ranges", "content-disposition"]
        return HTTPServiceAnswer(status: 304, headers: all.filter { !ofBody.contains($0.name.lowercased()) })
    }

    /// RFC 9211: how this cache came by the answer.
    private static func status(of answer: ServedAnswer, at now: Moment) -> String {
        let ttl = answer.freshFor(at: now).map { "; ttl=\($0.components.seconds)" } ?? ""
        let stored = answer.isKept ? "; stored" : ""
        return switch answer.source {
        case .memory, .disk, .shared: "gannet; hit\(ttl); detail=\(answer.source.rawValue)"
        case .stale: "gannet; hit\(ttl); detail=stale"
        case .revalidated: "gannet; fwd=stale; fwd-status=304\(stored)\(ttl)"
        case .network: "gannet; fwd=miss; fwd-status=\(answer.status)\(stored)\(ttl)"
        }
    }
}
