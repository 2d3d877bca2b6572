/// Why a URL could not be fetched.
package struct FetchError: Error, Sendable, Hashable {
    /// What went wrong, as one of a closed list.
    package var kind: Kind
    /// The URL that was asked for, without its credentials.
    package var url: RedactedURL
    /// What libcurl, the system or a check said; may be empty.
    package var detail: String
    /// For how long the server asked to be left alone, an hour at most.
    package var retryAfter: Duration?
    /// Those of the answer whose status is the error; none otherwise.
    package var headers: ResponseHeaders

    package init(
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
    package var description: String {
        let end = detail.isEmpty ? "." : detail.hasSuffix(".") ? ": \(detail)" : ": \(detail)."
        return "\(kind.sentence) (\(url))\(end)"
    }
}

extension FetchError {
    /// Whether the same request may succeed later.
    package var isRetryable: Bool {
        switch retry {
        case .later, .unreachable, .throttled, .withoutNetwork: true
        case .never, .local, .cancelled: false
        }
    }

    /// What is to be done about it.
    package var retry: RetryClass {
        if case .throttled = kind.retry { .throttled(retryAfter) } else { kind.retry }
    }

    /// A short lower-case word for tables and filters, the same in every version.
    package var className: String { kind.className }
}
