public import HTTPEngine

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension FetchError {
    /// An error of your own, for ``Fetcher/init(_:answering:)``.
    public init(
        _ kind: Kind, url: URL, detail: String = "", retryAfter: Duration? = nil, headers: ResponseHeaders = [:]
    ) {
        self.init(kind: kind, url: url.absoluteString, detail: detail, retryAfter: retryAfter, headers: headers)
    }
}

/// The sentence of `description`, for code that prints `localizedDescription`.
extension FetchError: LocalizedError {
    public var errorDescription: String? { description }
}

extension InvalidOptions: LocalizedError {
    public var errorDescription: String? { description }
}
