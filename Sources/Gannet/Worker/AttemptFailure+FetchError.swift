internal import ClusterState
internal import FetchQueue
internal import HTTPEngine

extension AttemptFailure {
    init(_ kind: FetchError.Kind) {
        self =
            switch kind {
            case .dns, .connect, .timeout(.resolve), .timeout(.connect): .unreachable
            case .timeout(.response), .timeout(.body), .tooSlow, .reset, .truncated: .transient
            case .throttled, .status(429), .status(503), .status(408), .status(425): .throttled(nil)
            case .status(500...599): .transient
            case .invalidURL, .invalidRequest, .refusedAddress, .refusedRedirect, .tooManyRedirects, .tls, .status, .tooLarge,
                .headersTooLarge, .badEncoding, .protocolError, .cancelled, .storage, .systemLimit, .engine:
                .final
            }
    }
}

extension Settlement.HostNews {
    /// What a failed attempt has shown of the host it was made at.
    init(_ kind: FetchError.Kind) {
        self =
            switch kind {
            case .dns, .connect, .timeout(.resolve), .timeout(.connect): .unreachable
            // With these there was an answer, or the beginning of one.
            case .status, .throttled, .timeout(.body), .truncated, .refusedRedirect, .tooManyRedirects, .tooLarge, .headersTooLarge,
                .badEncoding:
                .answered
            case .timeout(.response), .tooSlow, .reset, .tls, .protocolError, .invalidURL, .invalidRequest, .refusedAddress, .cancelled,
                .storage, .systemLimit, .engine:
                .none
            }
    }
}
