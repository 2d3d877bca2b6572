extension FetchError.Kind {
    /// The kind that has this class name, or one of several that share it; `nil` for a name that this version does not know.
    package init?(className: String) {
        if className.hasPrefix("http-"), let status = Int(className.dropFirst(5)), (100...999).contains(status) {
            self = .status(status)
        } else if let kind = Self.byClassName[className] {
            self = kind
        } else {
            return nil
        }
    }

    private static let byClassName: [String: Self] = {
        let kinds: [Self] = [
            .invalidURL, .invalidRequest, .refusedAddress, .refusedRedirect, .tooManyRedirects, .dns(.noSuchName), .dns(.nobodyAnswers),
            .dns(.serverFailed), .connect, .proxy, .tls, .timeout(.response), .tooSlow, .reset, .truncated, .tooLarge, .headersTooLarge,
            .badEncoding, .protocolError, .unexpectedContent, .throttled, .cancelled, .storage, .systemLimit, .engine,
        ]
        return Dictionary(kinds.map { ($0.className, $0) }) { first, _ in first }
    }()
}
