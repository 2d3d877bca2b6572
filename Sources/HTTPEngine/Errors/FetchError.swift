/// Why a URL could not be fetched.
public struct FetchError: Error, Sendable, Hashable {
    /// What went wrong, as one of a closed list.
    public var kind: Kind
    /// The URL that was asked for, without its credentials.
    public var url: RedactedURL
    /// What libcurl, the system or a check said; may be empty.
    public var detail: String
    /// For how long the server asked to be left alone, an hour at most.
    public var retryAfter: Duration?
    /// Those of the answer whose status is the error; none otherwise.
    public var headers: ResponseHeaders

    public init(
        kind: Kind, url: String, detail: String = "", retryAfter: Duration? = nil, headers: ResponseHeaders = ResponseHeaders()
    ) {
        self.kind = kind
        self.url = RedactedURL(url)
        self.detail = detail.escapedForDisplay
        self.retryAfter = retryAfter
        self.headers = headers
    }
}

extension FetchError: CustomStringConvertible {
    /// One sentence that says what happened, where, and what the cause said.
    public var description: String {
        let end = detail.isEmpty ? "." : detail.hasSuffix(".") ? ": \(detail)" : ": \(detail)."
        return "\(kind.sentence) (\(url))\(end)"
    }
}

extension FetchError {
    /// Whether the same request may succeed later.
    public var isRetryable: Bool {
        switch retry {
        case .later, .unreachable, .throttled, .withoutNetwork: true
        case .never, .local, .cancelled: false
        }
    }

    /// What is to be done about it.
    public var retry: RetryClass {
        if case .throttled = kind.retry { .throttled(retryAfter) } else { kind.retry }
    }

    /// A short lower-case word for tables and filters, the same in every version.
    public var className: String { kind.className }
}
