/// How a picture meets a size. The numbers are those of the messages.
package enum ThumbnailFit: UInt8, Sendable, Hashable, CaseIterable {
    /// All of the picture is inside; one side may be shorter than wanted.
    case contain = 1
    /// The size is filled, and the picture is cut at two sides.
    case cover = 2
    /// All of the picture is inside, in the middle of a white ground that fills the size.
    case border = 3
    /// The size is filled, and the picture stays whole: one side may be longer than wanted.
    case surround = 4
    /// The picture keeps its size.
    case keep = 5
}

/// The end of a picture that is not larger than the wanted size. The numbers are those of the messages.
package enum SmallPicture: UInt8, Sendable, Hashable, CaseIterable {
    /// It is never enlarged. `cover` still cuts off what lies outside the size.
    case cut = 1
    /// It stays as it is, without a cut and a border.
    case stay = 2
    case enlarge = 3
}

/// The way from a picture to the wanted one: it is scaled to one size, then cut to another or put on a ground of that size.
package struct ThumbnailLayout: Sendable, Hashable {
    package let scaled: PictureSize
    package let made: PictureSize
    /// Where the scaled picture begins in the one that is made; below zero where it is cut.
    package var left: Int { Self.middle(made.width - scaled.width) }
    package var top: Int { Self.middle(made.height - scaled.height) }

    init(_ original: PictureSize, _ fit: ThumbnailFit, _ size: PictureSize, _ small: SmallPicture) {
        let factors = (Double(size.width) / Double(original.width), Double(size.height) / Double(original.height))
        let factor =
            switch fit {
            case .contain, .border: min(factors.0, factors.1)
            case .cover, .surround: max(factors.0, factors.1)
            case .keep: 1.0
            }
        if fit == .keep || small == .stay && factor >= 1 {
            (scaled, made) = (original, original)
            return
        }
        let used = small == .cut ? min(factor, 1) : factor
        scaled = PictureSize(Self.side(original.width, used), Self.side(original.height, used))
        switch fit {
        case .contain, .surround, .keep: made = scaled
        case .cover: made = PictureSize(min(scaled.width, size.width), min(scaled.height, size.height))
        case .border: made = size
        }
    }

    /// A half is rounded to the even number, which is what Python does: sizes are those of `img2dataset`.
    private static func side(_ side: Int, _ factor: Double) -> Int { max(1, Int((Double(side) * factor).rounded(.toNearestOrEven))) }

    private static func middle(_ rest: Int) -> Int { rest < 0 ? -(-rest / 2) : rest / 2 }
}
