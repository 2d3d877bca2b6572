public import FetchCache
public import HTTPEngine
public import ImageProbe

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An answer with its status, its headers and its source.
public struct FetchResponse: Sendable, Hashable {
    /// The body, unpacked.
    public var data: Data
    /// The URL that answered, after redirects.
    public var finalURL: String
    /// From 200 to 299.
    public var status: Int
    /// All headers of an answer that has just come. Of a kept answer, only the headers that describe the body or decide about keeping it.
    public var headers: ResponseHeaders
    /// The tier that had the answer, or the network.
    public var source: AnswerSource
}

/// The bytes of an image that have been examined: they are an image, it is whole, and it is no larger than permitted.
public struct FetchedImage: Sendable, Hashable {
    public var data: Data
    public var format: ImageFormat
    /// In pixels; an SVG may have none.
    public var size: ImageSize?
}
