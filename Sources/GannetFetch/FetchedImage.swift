public import ImageProbe

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The bytes of an image that have been looked at: it is one, it is whole, and it is no larger than permitted.
public struct FetchedImage: Sendable, Hashable {
    public var data: Data
    public var format: ImageFormat
    /// In pixels; an SVG may have none.
    public var size: ImageSize?
}
