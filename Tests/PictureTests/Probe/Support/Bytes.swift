@testable import GannetPictures

extension [UInt8] {
    /// The number in big-endian bytes.
    static func big(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    /// The number in little-endian bytes.
    static func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }

    /// The same bytes with others in the place of some.
    func with(_ other: [UInt8], at offset: Int) -> [UInt8] { Array(self[..<offset]) + other + Array(self[(offset + other.count)...]) }

    /// The same bytes with one text, which has to be there, exchanged for another of its length wherever it stands.
    func exchanging(_ text: String, for other: String) -> [UInt8] {
        precondition(text.utf8.count == other.utf8.count && firstRange(of: Array(text.utf8)) != nil, "\(text) cannot be exchanged")
        var result = self
        for range in ranges(of: Array(text.utf8)) { result.replaceSubrange(range, with: other.utf8) }
        return result
    }
}

/// The probe's result for the bytes.
func probed(_ bytes: [UInt8], limits: ImageLimits = ImageLimits()) -> Result<ImageInfo, ImageProbeError> {
    do { return .success(try ImageProbe(limits: limits).examine(bytes)) } catch { return .failure(error) }
}

func probed(_ text: String) -> Result<ImageInfo, ImageProbeError> { probed(Array(text.utf8)) }

extension Result where Success == ImageInfo, Failure == ImageProbeError {
    static func image(_ format: ImageFormat, _ width: Int, _ height: Int) -> Self {
        .success(ImageInfo(format: format, size: ImageSize(width: width, height: height)))
    }

    var isTruncated: Bool { if case .failure(.truncated) = self { true } else { false } }
    var isMalformed: Bool { if case .failure(.malformed) = self { true } else { false } }
    var isTooLarge: Bool { if case .failure(.tooManyPixels) = self { true } else { false } }
    var isNoImage: Bool { if case .failure(.notAnImage) = self { true } else { false } }
}
