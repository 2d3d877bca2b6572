extension FetchError {
    /// What a failure says of the next attempt.
    public enum RetryClass: Sendable, Hashable {
        /// It may be otherwise next time, at the URL's own expense: a timeout, a reset, a 5xx.
        case later
        /// As above, and the host as a whole was not reached.
        case unreachable
        /// The host asks for a pause, of this length where it said one, and the URL is not to blame.
        case throttled(Duration?)
        /// This machine cannot look up any name, or its proxy does not serve it: no URL is to blame.
        case withoutNetwork
        /// It will be the same every time.
        case never
        /// This machine or its disk is at fault, and any other URL would fare the same here.
        case local
        /// Nobody wants it any more.
        case cancelled
    }
}

extension FetchError.Kind {
    package var retry: FetchError.RetryClass {
        switch self {
        case .dns(.serverFailed), .dns(.noAddress), .connect, .timeout(.resolve), .timeout(.connect): .unreachable
        case .dns(.nobodyAnswers), .proxy: .withoutNetwork
        case .timeout(.response), .timeout(.body), .tooSlow, .reset, .truncated: .later
        case .status(408), .status(425), .status(429), .status(503), .throttled: .throttled(nil)
        case .status(500...599): .later
        case .invalidURL, .invalidRequest, .refusedAddress, .refusedRedirect, .tooManyRedirects, .dns(.noSuchName), .tls, .status,
            .tooLarge, .headersTooLarge, .badEncoding, .protocolError, .unexpectedContent, .engine:
            .never
        case .storage, .systemLimit: .local
        case .cancelled: .cancelled
        }
    }
}

extension FetchError.Kind {
    /// Whether another who asks with other settings may fare better: permitted networks, trusted certificates, larger limits.
    package var restsOnSettings: Bool {
        switch self {
        case .refusedAddress, .tls, .tooLarge, .headersTooLarge, .refusedRedirect, .tooManyRedirects, .proxy: true
        default: false
        }
    }
}
