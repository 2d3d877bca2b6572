/// A wanted thumbnail. As a message it is a head of fixed length, then the bytes of the picture.
package struct ThumbnailRequest: Sendable, Hashable {
    package var width: Int
    package var height: Int
    package var fit: ThumbnailFit
    package var format: ThumbnailFormat

    /// The sides that may be wanted, in pixels.
    package static let sides = 1...4096
    package static let headBytes = 11

    /// - Parameter height: Without it a whole picture may be as high as it likes, and a cut one is a square.
    package init(width: Int, height: Int?, fit: ThumbnailFit, format: ThumbnailFormat) {
        self.width = width
        self.height = height ?? (fit == .cover ? width : Self.sides.upperBound)
        self.fit = fit
        self.format = format
    }

    /// - Parameter count: The bytes of the picture that follow.
    package func head(count: Int) -> [UInt8] {
        var head = [MessageBytes.version, fit.rawValue, format.rawValue]
        MessageBytes.append(width, bytes: 2, to: &head)
        MessageBytes.append(height, bytes: 2, to: &head)
        MessageBytes.append(count, bytes: 4, to: &head)
        return head
    }

    /// The request, and the bytes of the picture that follow. Nil for a head that `head(count:)` does not make.
    package static func read(_ head: [UInt8]) -> (request: ThumbnailRequest, count: Int)? {
        guard head.count == headBytes, head[0] == MessageBytes.version, let fit = ThumbnailFit(rawValue: head[1]),
            let format = ThumbnailFormat(rawValue: head[2])
        else { return nil }
        let (width, height) = (MessageBytes.number(in: head[3..<5]), MessageBytes.number(in: head[5..<7]))
        guard sides.contains(width), sides.contains(height) else { return nil }
        return (ThumbnailRequest(width: width, height: height, fit: fit, format: format), MessageBytes.number(in: head[7..<11]))
    }
}

/// The numbers in messages: the highest byte first.
enum MessageBytes {
    /// Programs of different versions do not understand each other.
    static let version: UInt8 = 1

    static func append(_ number: Int, bytes: Int, to head: inout [UInt8]) {
        for index in (0..<bytes).reversed() { head.append(UInt8(truncatingIfNeeded: number >> (index * 8))) }
    }

    static func number(in bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
