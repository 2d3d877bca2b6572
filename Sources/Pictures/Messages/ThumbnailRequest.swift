/// A wanted picture. As a message it is a head of fixed length, then the bytes of the original.
package struct ThumbnailRequest: Sendable, Hashable {
    package var width: Int
    package var height: Int
    package var fit: ThumbnailFit
    package var small = SmallPicture.cut
    package var format: ThumbnailFormat
    /// Of a format that has one, 1...100; nil is the format's usual one.
    package var quality: Int?
    /// Whether the picture is turned as its metadata says. Sizes are then those of the turned one.
    package var isUpright = true
    /// Whether transparent parts become white also where the format could keep them.
    package var isOpaque = false
    /// A picture with a shorter side is refused.
    package var leastSide = 0
    /// A picture whose longer side has more than this many thousandths of the shorter one is refused; 0 for no bound.
    package var greatestAspect = 0

    /// The sides that may be wanted, in pixels.
    package static let sides = 1...4096
    package static let qualities = 1...100
    package static let leastSides = 0...65_535
    package static let greatestAspects = 0...65_535_000
    package static let headBytes = 20

    /// A thumbnail for a person's eyes.
    /// - Parameter height: Without it a whole picture may be as high as it likes, and a cut one is a square.
    package init(width: Int, height: Int?, fit: ThumbnailFit, format: ThumbnailFormat) {
        self.width = width
        self.height = height ?? (fit == .cover ? width : Self.sides.upperBound)
        self.fit = fit
        self.format = format
    }

    /// A picture of a dataset, with the size that `img2dataset` gives it.
    ///
    /// It lies as its pixels are stored, and has no transparency.
    package init(side: Int, fit: ThumbnailFit, small: SmallPicture, format: ThumbnailFormat, quality: Int?) {
        self.init(width: side, height: side, fit: fit, format: format)
        self.small = small
        self.quality = quality
        (isUpright, isOpaque) = (false, true)
    }

    /// The layout for a picture of this size, which is turned already if it has to be.
    package func layout(of original: PictureSize) -> ThumbnailLayout {
        ThumbnailLayout(original, fit, PictureSize(width, height), small)
    }

    /// Why a picture of this size is refused, by what the request itself says.
    package func refusal(of original: PictureSize) -> (ThumbnailRefusal, String)? {
        let (short, long) = (min(original.width, original.height), max(original.width, original.height))
        if short < leastSide { return (.tooSmall, "The picture has \(original) pixels; each side must have \(leastSide) or more.") }
        guard greatestAspect > 0, long * 1000 > greatestAspect * short else { return nil }
        return (
            .tooLong, "The picture has \(original) pixels: one side is more than \(Self.aspect(greatestAspect)) times as long as the other."
        )
    }

    /// `2.5` for 2500 thousandths.
    package static func aspect(_ thousandths: Int) -> String {
        var digits = String(thousandths % 1000 + 1000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return digits.isEmpty ? "\(thousandths / 1000)" : "\(thousandths / 1000).\(digits)"
    }

    /// - Parameter count: The bytes of the picture that follow.
    package func head(count: Int) -> [UInt8] {
        var head = [MessageBytes.version, fit.rawValue, small.rawValue, format.rawValue]
        head.append(UInt8(clamping: quality ?? 0))
        head.append((isUpright ? 1 : 0) | (isOpaque ? 2 : 0))
        MessageBytes.append(width, bytes: 2, to: &head)
        MessageBytes.append(height, bytes: 2, to: &head)
        MessageBytes.append(leastSide, bytes: 2, to: &head)
        MessageBytes.append(greatestAspect, bytes: 4, to: &head)
        MessageBytes.append(count, bytes: 4, to: &head)
        return head
    }

    /// The request, and the bytes of the picture that follow. Nil for a head that `head(count:)` does not make.
    package static func read(_ head: [UInt8]) -> (request: ThumbnailRequest, count: Int)? {
        guard head.count == headBytes, let fit = ThumbnailFit(rawValue: head[1]), let small = SmallPicture(rawValue: head[2]),
            let format = ThumbnailFormat(rawValue: head[3])
        else { return nil }
        let (width, height) = (MessageBytes.number(in: head[6..<8]), MessageBytes.number(in: head[8..<10]))
        guard sides.contains(width), sides.contains(height), head[4] <= qualities.upperBound else { return nil }
        var request = ThumbnailRequest(width: width, height: height, fit: fit, format: format)
        request.small = small
        request.quality = head[4] == 0 ? nil : Int(head[4])
        (request.isUpright, request.isOpaque) = (head[5] & 1 != 0, head[5] & 2 != 0)
        request.leastSide = MessageBytes.number(in: head[10..<12])
        request.greatestAspect = MessageBytes.number(in: head[12..<16])
        let count = MessageBytes.number(in: head[16..<20])
        guard greatestAspects.contains(request.greatestAspect), request.head(count: count) == head else { return nil }
        return (request, count)
    }
}

/// The numbers in messages: the highest byte first.
enum MessageBytes {
    /// Programs of different versions do not understand each other.
    static let version: UInt8 = 2

    static func append(_ number: Int, bytes: Int, to head: inout [UInt8]) {
        for index in (0..<bytes).reversed() { head.append(UInt8(truncatingIfNeeded: number >> (index * 8))) }
    }

    static func number(in bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
