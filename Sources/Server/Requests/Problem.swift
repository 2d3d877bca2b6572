internal import GannetBase
internal import GannetHTTP
internal import GannetQueue
internal import Results

/// Why a request is not answered as it was meant, as RFC 9457 writes it.
package struct Problem: Error, Sendable {
    package let status: Int
    /// A short lower-case word for programs, the same in every version. Failures of fetches have the classes that the command line shows.
    let errorClass: String
    /// A sentence for people that says what to do.
    let detail: String
    var headers: [(name: String, value: String)] = []
    /// The URL that could not be fetched, without its secrets.
    var url: String?
    /// The status that the origin answered.
    var originStatus: Int?
    /// The rule that refused the request.
    var rule: AccessRule?

    init(_ status: Int, _ errorClass: String, _ detail: String, rule: AccessRule? = nil) {
        self.status = status
        self.errorClass = errorClass
        self.detail = detail
        self.rule = rule
    }

    static func badRequest(_ detail: String) -> Problem { Problem(400, "bad-request", detail) }

    /// In whole seconds, so that nobody comes too early.
    static func retryAfter(_ pause: Duration) -> (name: String, value: String) {
        let (seconds, rest) = pause.components
        return ("Retry-After", "\(max(1, seconds + (rest > 0 ? 1 : 0)))")
    }

    static let notFound = Problem(404, "not-found", "There is nothing at this path. /v1/openapi.json lists all that is there.")

    static func noSuchBatch(_ name: String, _ queue: FetchQueue) -> Problem {
        Problem(404, "no-such-batch", "There is no batch '\(name)' in the queue '\(queue.name)'.")
    }

    static func notAllowed(_ methods: [String]) -> Problem {
        let allowed = methods.joined(separator: ", ")
        var problem = Problem(405, "method-not-allowed", "This path takes \(allowed).")
        problem.headers = [("Allow", allowed)]
        return problem
    }

    package var answer: HTTPServiceAnswer {
        var members: [(key: String, value: JSONValue)] = [
            ("title", .string(Self.titles[status] ?? "Error")), ("status", .integer(status)), ("class", .string(errorClass)),
            ("detail", .string(detail)),
        ]
        if let url { members.append(("url", .string(url))) }
        if let originStatus { members.append(("originStatus", .integer(originStatus))) }
        let type = (name: "Content-Type", value: "application/problem+json")
        var headers = headers
        // A 503 is about this moment, so the next may do.
        if status == 503, !headers.contains(where: { $0.name == "Retry-After" }) { headers.append(Self.retryAfter(.seconds(1))) }
        return HTTPServiceAnswer(
            status: status, headers: [type, (name: "Cache-Control", value: "no-store")] + headers,
            body: .bytes(Array((JSONValue.object(members).text + "\n").utf8)))
    }

    /// The names of the statuses, which are the titles of problems without a type of their own.
    private static let titles = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict",
        410: "Gone", 412: "Precondition Failed", 413: "Content Too Large", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        421: "Misdirected Request", 422: "Unprocessable Content", 429: "Too Many Requests", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        507: "Insufficient Storage",
    ]
}

/// The problems that stand for failures.
extension Problem {
    /// A call about the state of the cluster failed.
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as FetchError: self.init(error)
        case StateError.invalid(let sentence): self.init(400, "bad-request", sentence)
        case StateError.batchCancelled, StateError.batchClosed, StateError.otherHeaders: self.init(409, "batch", "\(error)")
        case let error as StateError: self.init(503, "redis", error.description)
        default: self.init(500, "defect", "The server could not answer this.")
        }
    }

    /// A URL could not be fetched.
    init(_ error: FetchError) {
        self.init(Self.status(of: error.kind), error.className, error.description)
        url = error.url.description
        if case .status(let status) = error.kind { originStatus = status }
        if let pause = error.retryAfter { headers.append(Self.retryAfter(pause)) }
    }

    /// The statuses tell apart who is to blame: 4xx the request or the URL, 502 and 504 the origin, 503 this gateway at this moment.
    private static func status(of kind: FetchError.Kind) -> Int {
        switch kind {
        case .invalidURL, .invalidRequest: 400
        case .refusedAddress, .disallowed, .refusedRedirect: 403
        case .tooLarge: 413
        case .unexpectedContent: 415
        // These say something of the URL. Other statuses of the origin would be misread as ours: a 401 or a 403 is about the origin's rules.
        case .status(let status) where [404, 410, 451].contains(status): status
        case .status(429), .status(503), .throttled: 503
        case .status(504), .timeout, .tooSlow: 504
        case .cancelled, .systemLimit: 503
        case .storage, .engine: 500
        case .tooManyRedirects, .dns, .connect, .proxy, .tls, .reset, .truncated, .status, .headersTooLarge, .badEncoding, .protocolError:
            502
        }
    }

    /// There is no thumbnail of the picture at a URL.
    init(_ failure: ThumbnailFailure, url: String?) {
        self.init(Self.status(of: failure.kind), failure.kind.rawValue, failure.sentence)
        self.url = url.map { RedactedURL.withoutSecrets($0) }
        if failure.kind == .busy { headers = [("Retry-After", "1")] }
    }

    private static func status(of kind: ThumbnailFailure.Kind) -> Int {
        switch kind {
        case .missing, .unfit: 501
        case .notPicture: 415
        case .tooLarge: 413
        case .broken, .crashed, .tooSmall, .tooLong: 422
        case .tooSlow: 504
        case .busy, .cancelled: 503
        }
    }
}
