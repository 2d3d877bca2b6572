/// An answer of the program that makes thumbnails. As a message it is a head of fixed length, then the bytes of a thumbnail or of a sentence.
package enum ThumbnailAnswer: Sendable, Hashable {
    /// The program has loaded all that it needs, and has given up its rights.
    case ready
    /// - Parameter original: The size of the picture that it is made of, turned as the request asked.
    case thumbnail(format: ThumbnailFormat, size: PictureSize, original: PictureSize)
    case refused(ThumbnailRefusal)

    package static let headBytes = 15
    /// The most bytes of a thumbnail: more than any picture of the largest sides needs.
    package static let mostBytes = 64 << 20

    private static let readyKind: UInt8 = 1
    private static let thumbnailKind: UInt8 = 2
    private static let noPicture = [UInt8](repeating: 0, count: 9)

    /// - Parameter count: The bytes that follow.
    package func head(count: Int) -> [UInt8] {
        var head = [MessageBytes.version]
        switch self {
        case .ready: head += [Self.readyKind] + Self.noPicture
        case .thumbnail(let format, let size, let original):
            head += [Self.thumbnailKind, format.rawValue]
            for side in [size.width, size.height, original.width, original.height] { MessageBytes.append(side, bytes: 2, to: &head) }
        case .refused(let refusal): head += [refusal.rawValue] + Self.noPicture
        }
        MessageBytes.append(count, bytes: 4, to: &head)
        return head
    }

    /// The answer, and the bytes that follow. Nil for a head that `head(count:)` does not make: the program is of another version, or a
    /// picture has taken it over.
    package static func read(_ head: [UInt8]) -> (answer: ThumbnailAnswer, count: Int)? {
        guard head.count == headBytes, head[0] == MessageBytes.version else { return nil }
        let count = MessageBytes.number(in: head[11..<15])
        guard count <= mostBytes else { return nil }
        let answer: ThumbnailAnswer
        switch head[1] {
        case readyKind: answer = .ready
        case thumbnailKind:
            guard let format = ThumbnailFormat(rawValue: head[2]), format != .plain else { return nil }
            let size = PictureSize(MessageBytes.number(in: head[3..<5]), MessageBytes.number(in: head[5..<7]))
            let original = PictureSize(MessageBytes.number(in: head[7..<9]), MessageBytes.number(in: head[9..<11]))
            guard min(size.width, size.height, original.width, original.height) > 0 else { return nil }
            answer = .thumbnail(format: format, size: size, original: original)
        default:
            guard let refusal = ThumbnailRefusal(rawValue: head[1]) else { return nil }
            answer = .refused(refusal)
        }
        // The answers without a picture leave most of the head empty.
        return answer.head(count: count) == head ? (answer, count) : nil
    }
}

/// Why there is no thumbnail, as the program itself knows it. The numbers are those of the messages.
package enum ThumbnailRefusal: UInt8, Sendable, Hashable, CaseIterable {
    /// The program cannot work on this machine.
    case unfit = 16
    /// The bytes are no picture of a format that is read.
    case notPicture = 17
    /// The picture has more pixels than are permitted, or needs more memory.
    case tooLarge = 18
    case broken = 19
    /// The picture is smaller than the request permits.
    case tooSmall = 20
    /// One side is longer, measured by the other, than the request permits.
    case tooLong = 21
}
