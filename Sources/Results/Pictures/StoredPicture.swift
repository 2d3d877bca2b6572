internal import GannetBase
package import GannetPictures

/// A picture that a run made of a body, and stored in its place.
package struct StoredPicture: Sendable, Equatable {
    package let format: ThumbnailFormat
    package let size: PictureSize
    /// Of the picture that was fetched.
    package let original: PictureSize
    /// Of the file.
    package let bytes: Int
    package let digest: [UInt8]

    init(_ made: Thumbnail, digest: [UInt8]) {
        (format, size, original) = (made.format, made.size, made.original)
        bytes = made.bytes.count
        self.digest = digest
    }

    /// In a journal: `jpeg 256 192 400 300 9120 3fa9…`.
    var text: String {
        "\(format) \(size.width) \(size.height) \(original.width) \(original.height) \(bytes) \(digest.hexadecimal)"
    }

    /// Nil for text that is not of this form.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 7, let format = ThumbnailFormat.allCases.first(where: { "\($0)" == words[0] }) else { return nil }
        let numbers = words[1...5].compactMap { Int($0) }
        guard numbers.count == 5, numbers.allSatisfy({ 1..<1 << 31 ~= $0 }), words[6].utf8.count == 64,
            let digest = [UInt8](hexadecimal: Array(words[6].utf8))
        else { return nil }
        self.format = format
        size = PictureSize(numbers[0], numbers[1])
        original = PictureSize(numbers[2], numbers[3])
        bytes = numbers[4]
        self.digest = digest
    }
}

extension ThumbnailFormat {
    /// The ending of a file's name.
    package var ending: String {
        switch self {
        case .jpeg, .plain: "jpg"
        case .png: "png"
        case .webp: "webp"
        case .avif: "avif"
        }
    }
}
