package import GannetPictures

/// A finished thumbnail.
package struct Thumbnail: Sendable, Hashable {
    package let format: ThumbnailFormat
    package let size: PictureSize
    /// Of the picture that it was made of, turned as the request asked.
    package let original: PictureSize
    package let bytes: [UInt8]

    package init(format: ThumbnailFormat, size: PictureSize, original: PictureSize, bytes: [UInt8]) {
        self.format = format
        self.size = size
        self.original = original
        self.bytes = bytes
    }
}

/// Why there is no thumbnail.
package struct ThumbnailFailure: Error, Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The program is not installed.
        case missing = "thumbnail-program-missing"
        /// The program is there, and cannot work.
        case unfit = "thumbnail-program-unfit"
        case notPicture = "not-a-picture"
        case tooLarge = "picture-too-large"
        /// A side is shorter than is permitted.
        case tooSmall = "picture-too-small"
        /// One side is too long, measured by the other.
        case tooLong = "picture-too-long"
        case broken = "picture-broken"
        /// The program ended while it worked on the picture.
        case crashed = "picture-crashed"
        case tooSlow = "picture-too-slow"
        /// Too many pictures wait.
        case busy = "thumbnails-busy"
        case cancelled = "cancelled"
    }

    package let kind: Kind
    /// For people: what happened, and what to do.
    package let sentence: String

    package init(_ kind: Kind, _ sentence: String) {
        self.kind = kind
        self.sentence = sentence
    }
}

extension ThumbnailFailure {
    init(refusal: ThumbnailRefusal, _ sentence: String) {
        switch refusal {
        case .unfit: self.init(.unfit, "gannet-thumbnail cannot work here: \(sentence)")
        case .notPicture: self.init(.notPicture, sentence)
        case .tooLarge: self.init(.tooLarge, sentence)
        case .broken: self.init(.broken, sentence)
        case .tooSmall: self.init(.tooSmall, sentence)
        case .tooLong: self.init(.tooLong, sentence)
        }
    }
}
