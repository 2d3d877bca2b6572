public import FetchCache
public import HTTPEngine

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An answer with all that is known of it.
public struct FetchResponse: Sendable, Hashable {
    /// The body, unpacked.
    public var data: Data
    /// The URL that answered, after redirects.
    public var finalURL: String
    /// 200 to 299.
    public var status: Int
    /// What of the answer's headers is kept with it: those about the body and about keeping it, in full where it has just come.
    public var headers: ResponseHeaders
    public var source: AnswerSource
}
