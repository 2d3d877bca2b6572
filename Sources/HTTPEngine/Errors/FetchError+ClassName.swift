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

    /// All class names but those of statuses, which are `http-` and the number.
    package static let classNames: [String] = named.map(\.className)

    /// One of each class.
    private static let named: [Self] = [
        .invalidURL, .invalidRequest, .refusedAddress, .refusedRedirect, .tooManyRedirects, .dns(.noSuchName), .dns(.nobodyAnswers),
        .dns(.serverFailed), .connect, .proxy, .tls, .timeout(.response), .tooSlow, .reset, .truncated, .tooLarge, .headersTooLarge,
        .badEncoding, .protocolError, .unexpectedContent, .throttled, .cancelled, .storage, .systemLimit, .engine,
    ]

    private static let byClassName = Dictionary(uniqueKeysWithValues: named.map { ($0.className, $0) })
}
