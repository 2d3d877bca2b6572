/// An answer of the program that makes thumbnails. As a message it is a head of fixed length, then the bytes of a thumbnail or of a sentence.
package enum ThumbnailAnswer: Sendable, Hashable {
    /// The program has loaded all that it needs, and has given up its rights.
    case ready
    case thumbnail(format: ThumbnailFormat, width: Int, height: Int)
    case refused(ThumbnailRefusal)

    package static let headBytes = 11
    /// The most bytes of a thumbnail: more than any picture of the largest sides needs.
    package static let mostBytes = 64 << 20

    private static let readyKind: UInt8 = 1
    private static let thumbnailKind: UInt8 = 2

    /// - Parameter count: The bytes that follow.
    package func head(count: Int) -> [UInt8] {
        var head = [MessageBytes.version]
        switch self {
        case .ready: head += [Self.readyKind, 0, 0, 0, 0, 0]
        case .thumbnail(let format, let width, let height):
            head += [Self.thumbnailKind, format.rawValue]
            MessageBytes.append(width, bytes: 2, to: &head)
            MessageBytes.append(height, bytes: 2, to: &head)
        case .refused(let refusal): head += [refusal.rawValue, 0, 0, 0, 0, 0]
        }
        MessageBytes.append(count, bytes: 4, to: &head)
        return head
    }

    /// The answer, and the bytes that follow. Nil for a head that `head(count:)` does not make: the program is of another version, or a
    /// picture has taken it over.
    package static func read(_ head: [UInt8]) -> (answer: ThumbnailAnswer, count: Int)? {
        guard head.count == headBytes, head[0] == MessageBytes.version else { return nil }
        let count = MessageBytes.number(in: head[7..<11])
        guard count <= mostBytes else { return nil }
        let answer: ThumbnailAnswer
        switch head[1] {
        case readyKind: answer = .ready
        case thumbnailKind:
            guard let format = ThumbnailFormat(rawValue: head[2]), format != .plain else { return nil }
            let (width, height) = (MessageBytes.number(in: head[3..<5]), MessageBytes.number(in: head[5..<7]))
            guard ThumbnailRequest.sides.contains(width), ThumbnailRequest.sides.contains(height) else { return nil }
            answer = .thumbnail(format: format, width: width, height: height)
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
}
