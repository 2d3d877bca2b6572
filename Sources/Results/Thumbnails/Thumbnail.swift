internal import GannetBase
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

extension ThumbnailFailure.Kind {
    /// Whether the failure is one of the picture, and other pictures can be made.
    package var isOfPicture: Bool {
        switch self {
        case .notPicture, .tooLarge, .tooSmall, .tooLong, .broken, .crashed, .tooSlow: true
        case .missing, .unfit, .busy, .cancelled: false
        }
    }

    /// Whether the same bytes always fail so. A page in a picture's place may be gone tomorrow, and so may the load of a machine.
    package var isFinal: Bool {
        switch self {
        case .tooLarge, .tooSmall, .tooLong: true
        case .notPicture, .broken, .crashed, .tooSlow, .missing, .unfit, .busy, .cancelled: false
        }
    }
}

/// The file of the program that makes thumbnails.
package struct ThumbnailProgram: Sendable {
    package static let name = "gannet-thumbnail"

    private let path: String
    private let isNamed: Bool

    /// - Parameters:
    ///   - named: The file that the user names; nil is the one beside `own`.
    ///   - own: The file of this process' program.
    package init(named: String?, beside own: String) {
        isNamed = named != nil
        path = named ?? (own.lastIndex(of: "/").map { String(own[...$0]) } ?? "./") + Self.name
    }

    /// The file, if it can be run.
    func find() throws(ThumbnailFailure) -> String {
        if access(path, X_OK) == 0 { return path }
        throw ThumbnailFailure(
            .missing,
            isNamed
                ? "The program for thumbnails, \(path), cannot be run: \(Descriptor.message(errno))."
                : "Thumbnails need the program gannet-thumbnail beside gannet: install libvips-dev and libseccomp-dev, build gannet again, or name "
                    + "the program with '--thumbnail-program'.")
    }
}

/// How much a picture may take, and how many programs work on pictures.
package struct ThumbnailBounds: Sendable {
    /// Programs at a time. Each works on one picture with one thread.
    package var programs = 2
    /// Bytes of one picture.
    package var input = 64 << 20
    /// Pixels of one picture, counted before any is decoded.
    package var pixels = 100_000_000
    /// Bytes of memory that a program may take for a picture, beside about 60 MB for itself. A picture of 100 million pixels that cannot be decoded
    /// in parts takes 400 MB.
    package var memory = 768 << 20
    /// Processor time for one picture.
    package var computing = Duration.seconds(10)
    /// Time for one picture, from its first byte in the pipe.
    package var time = Duration.seconds(20)
    /// Time for the start of a program.
    package var start = Duration.seconds(20)
    /// A program is replaced after this many pictures, so that no leak of a decoder lasts.
    package var pictures = 500
    /// A program without work ends after this time.
    package var idle = Duration.seconds(60)
    /// Bytes of all pictures that wait for a program.
    package var waiting = 256 << 20
    /// How many pictures wait for a program. Each may take it some seconds.
    package var waitingPictures = 64

    package init() {}

    /// As the program reads them.
    var words: [String] {
        let wholeLife = computing.components.seconds * Int64(pictures)
        return [
            "memory=\(memory)", "input=\(input)", "pixels=\(pixels)", "milliseconds=\(computing.milliseconds)",
            "seconds=\(max(60, min(wholeLife, 86_400)))",
        ]
    }
}

extension Duration {
    /// Whole milliseconds, one at least.
    var milliseconds: Int64 { max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000) }
}
