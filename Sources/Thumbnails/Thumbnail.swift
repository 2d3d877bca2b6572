package import ThumbnailMessages

/// A finished thumbnail.
package struct Thumbnail: Sendable, Hashable {
    package let format: ThumbnailFormat
    package let width: Int
    package let height: Int
    package let bytes: [UInt8]

    package init(format: ThumbnailFormat, width: Int, height: Int, bytes: [UInt8]) {
        self.format = format
        self.width = width
        self.height = height
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
        }
    }
}
