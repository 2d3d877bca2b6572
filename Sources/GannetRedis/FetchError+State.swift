package import GannetHTTP
package import GannetQueue

extension AttemptFailure {
    package init(_ retry: FetchError.RetryClass) {
        self =
            switch retry {
            case .unreachable: .unreachable
            case .later: .transient
            case .throttled(let pause): .throttled(pause)
            case .withoutNetwork: .withoutNetwork
            case .never, .local, .cancelled: .final
            }
    }
}

extension Settlement.HostNews {
    /// The news of its host that a failed attempt brings.
    package init(_ kind: FetchError.Kind) {
        self =
            switch kind {
            case .dns(.noSuchName), .dns(.noAddress), .dns(.serverFailed), .connect, .tls, .reset, .timeout(.resolve), .timeout(.connect),
                .timeout(.response):
                .silent
            // An attempt with one of these errors got an answer, or the beginning of one.
            case .status, .throttled, .timeout(.body), .truncated, .disallowed, .refusedRedirect, .tooManyRedirects, .tooLarge,
                .headersTooLarge,
                .badEncoding, .unexpectedContent:
                .answered
            case .dns(.nobodyAnswers), .proxy, .timeout(.deadline), .tooSlow, .protocolError,
                .invalidURL, .invalidRequest, .refusedAddress, .cancelled, .storage, .systemLimit, .engine:
                .none
            }
    }
}
