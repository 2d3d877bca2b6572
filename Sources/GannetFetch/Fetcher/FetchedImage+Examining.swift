public import FoundationEssentials
internal import GannetHTTP
public import GannetPictures

extension FetchedImage {
    /// Examines the bytes of an image as ``Fetcher/image(from:)`` does, such as those in the transform of a value. It decodes nothing.
    ///
    /// ```swift
    /// let photo = try await fetcher.value(from: url) { try Photo(FetchedImage(examining: $0).data) }
    /// ```
    public init(examining data: Data, limits: ImageLimits = ImageLimits()) throws(InvalidImage) {
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(ImageProbeError) in try ImageProbe(limits: limits).examine(bytes) }
        }
        do throws(ImageProbeError) {
            self.init(data: data, try result.get())
        } catch {
            throw InvalidImage(description: error.description)
        }
    }

    init(data: Data, _ info: ImageInfo) { self.init(data: data, format: info.format, size: info.size) }
}

/// Why bytes are no image that may be used, as a sentence: something else, cut short, malformed, or too large.
public struct InvalidImage: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String
}

extension InvalidImage: LocalizedError {
    public var errorDescription: String? { description }
}
