public import FoundationEssentials
public import GannetHTTP

extension FetchError {
    /// An error of your own, for ``Fetcher/init(_:answering:)``.
    public init(
        _ kind: Kind, url: URL, detail: String = "", retryAfter: Duration? = nil, headers: ResponseHeaders = [:]
    ) {
        self.init(kind: kind, url: url.absoluteString, detail: detail, retryAfter: retryAfter, headers: headers)
    }
}

extension FetchError {
    /// The error with the option that allows the refused network. The command line names its own option for the same error.
    var namingOption: FetchError {
        guard kind == .refusedAddress, AddressGuard.network(refusedIn: detail) != nil, !detail.contains(Self.advice) else { return self }
        var error = self
        error.detail += Self.advice
        return error
    }

    private static let advice = "; add the network to allowedNetworks in FetcherOptions"
}

/// The sentence of `description`, for code that prints `localizedDescription`.
extension FetchError: LocalizedError {
    public var errorDescription: String? { description }
}

extension InvalidOptions: LocalizedError {
    public var errorDescription: String? { description }
}
