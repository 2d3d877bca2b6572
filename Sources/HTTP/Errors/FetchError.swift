package import GannetBase

/// Why a URL could not be fetched.
public struct FetchError: Error, Sendable, Hashable {
    /// The way in which the fetch failed, one of a closed list.
    public var kind: Kind
    /// The URL of the request, without its credentials.
    public var url: RedactedURL
    /// The cause in the words of libcurl, the system or a check; may be empty.
    public var detail: String
    /// How long the server wants no further request, an hour at most.
    public var retryAfter: Duration?
    /// The headers of an answer whose status is the error; empty for other errors.
    public var headers: ResponseHeaders
    /// The system's errno where a body could not be stored; 0 for other errors.
    package var systemError: Int32 = 0
    /// Where the time went, until the engine's transfer failed.
    package var phases: PhaseTimes?

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
    /// One sentence that says what happened, where, and why.
    public var description: String {
        let start = "\(kind.sentence) ("
        // A failure that was kept, or that came from another process, or of a site's rules, brings its whole sentence along.
        if detail.hasPrefix(start) { return detail }
        let end = detail.isEmpty ? "." : detail.hasSuffix(".") ? ": \(detail)" : ": \(detail)."
        return "\(start)\(url))\(end)"
    }
}

extension FetchError {
    /// Whether the same request may succeed later.
    public var isRetryable: Bool { retry.mayPass }

    /// Whether and when the next attempt makes sense.
    public var retry: RetryClass { kind.retry.asksForRest ? .throttled(retryAfter) : kind.retry }

    /// A short lower-case word for tables and filters, the same in every version.
    public var className: String { kind.className }
}

extension FetchError {
    /// The consequence of a failure for the next attempt.
    public enum RetryClass: Sendable, Hashable {
        /// The next attempt may succeed, and counts as the URL's: a timeout, a reset, a 5xx.
        case later
        /// As `later`, and the host was not reached at all.
        case unreachable
        /// The host asks for a pause, perhaps of this length. The URL is not to blame.
        case throttled(Duration?)
        /// This machine cannot look up any name, or its proxy does not serve it. No URL is to blame.
        case withoutNetwork
        /// Every attempt will fail alike.
        case never
        /// This machine or its disk is at fault, and any other URL would fail here too.
        case local
        /// No caller wants it any more.
        case cancelled
    }
}

/// Questions that many ask of a failure. `RetryPolicy` says when a job of a queue is tried again.
extension FetchError.RetryClass {
    /// The same request may succeed later.
    package var mayPass: Bool {
        switch self {
        case .later, .unreachable, .throttled, .withoutNetwork: true
        case .never, .local, .cancelled: false
        }
    }

    /// Every attempt will fail alike, whoever makes it.
    package var isForEver: Bool { self == .never }

    /// The host is asked for nothing until its rest is over.
    package var asksForRest: Bool { if case .throttled = self { true } else { false } }

    /// The length of the rest, where the host names one.
    package var rest: Duration? { if case .throttled(let rest) = self { rest } else { nil } }

    /// The host was there, and took this long to fail.
    package var timesTheHost: Bool { self == .later }

    /// The fault is this machine's network, and no host's.
    package var lacksNetwork: Bool { self == .withoutNetwork }

    /// The fault is this machine, which has to stop.
    package var isLocal: Bool { self == .local }

    /// Another process may have the same URL without this failure.
    package var isOfThisProcess: Bool { self == .local || self == .cancelled }
}

extension FetchError.Kind {
    package var retry: FetchError.RetryClass {
        switch self {
        case .dns(.serverFailed), .dns(.noAddress), .connect, .timeout(.resolve), .timeout(.connect): .unreachable
        case .dns(.nobodyAnswers), .proxy: .withoutNetwork
        case .timeout(.response), .timeout(.body), .timeout(.deadline), .tooSlow, .reset, .truncated: .later
        case .status(408), .status(425), .status(429), .status(503), .throttled: .throttled(nil)
        case .status(500...599): .later
        case .invalidURL, .invalidRequest, .refusedAddress, .disallowed, .refusedRedirect, .tooManyRedirects, .dns(.noSuchName), .tls,
            .status, .tooLarge, .headersTooLarge, .badEncoding, .protocolError, .unexpectedContent, .engine:
            .never
        case .storage, .systemLimit: .local
        case .cancelled: .cancelled
        }
    }

    /// Whether the fetch may succeed with other settings: robots.txt ignored, permitted networks, trusted certificates, larger limits.
    package var restsOnSettings: Bool {
        switch self {
        case .refusedAddress, .disallowed, .tls, .tooLarge, .headersTooLarge, .refusedRedirect, .tooManyRedirects, .proxy, .storage: true
        case .dns, .connect, .timeout, .tooSlow, .reset, .truncated, .status, .throttled, .invalidURL, .invalidRequest, .badEncoding,
            .protocolError, .unexpectedContent, .engine, .systemLimit, .cancelled:
            false
        }
    }
}
