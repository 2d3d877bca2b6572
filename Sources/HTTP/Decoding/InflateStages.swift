internal import GannetBase

/// gzip (RFC 1952): any number of members one behind the other, which are one body.
///
/// Bytes behind the last member that do not begin another member are ignored. Old servers append zeros, blank lines or a page's footer,
/// and browsers show the page. Ignoring them does no harm, because a checksum has just confirmed the body.
final class GzipStage: DecodingStage {
    private enum Place: Equatable {
        case member, betweenMembers
        /// Behind all members, when only the first byte there has been read.
        case tailBegins
        case tail
    }

    private static let magic: (first: UInt8, second: UInt8) = (0x1f, 0x8b)

    private let stream: Inflate
    private var place = Place.member

    init() throws(FetchError) {
        guard let stream = Inflate(.gzip) else { throw .outOfMemory(.gzip) }
        self.stream = stream
    }

    var isComplete: Bool { place != .member }

    func advance(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(FetchError) -> Int {
        if place == .betweenMembers, input.first == Self.magic.first {
            stream.restart()
            place = .member
        }
        if place == .member {
            let (count, hasEnded) = try stream.advance(&input, into: output, as: .gzip)
            if hasEnded { place = .betweenMembers }
            return count
        }
        guard let byte = input.first else { return 0 }
        switch place {
        case .betweenMembers: place = .tailBegins
        // Half of a member's mark is most likely a damaged member. An incomplete body must not pass as complete.
        case .tailBegins where byte == Self.magic.second: throw .malformed(.gzip, detail: "the data behind the first part is damaged")
        default: place = .tail
        }
        input = UnsafeRawBufferPointer(rebasing: input.dropFirst(place == .tail ? input.count : 1))
        return 0
    }
}

/// deflate: a zlib stream (RFC 1950) by the standard, and a bare deflate stream (RFC 1951) as some servers have always sent it.
///
/// Bytes behind the end of a zlib stream, as behind gzip's, are ignored, because its checksum was right. A bare stream has no checksum and
/// must end where the body ends: damaged bytes could mean an early end.
final class DeflateStage: DecodingStage {
    private var stream: Inflate?
    private var isWrapped = false
    private var hasEnded = false

    var isComplete: Bool { hasEnded }

    func advance(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(FetchError) -> Int {
        guard !hasEnded else {
            guard isWrapped || input.isEmpty else { throw .malformed(.deflate, detail: "there are bytes behind its end") }
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst(input.count))
            return 0
        }
        let stream = if let stream { stream } else { try start(input) }
        let (count, hasEnded) = try stream.advance(&input, into: output, as: .deflate)
        self.hasEnded = hasEnded
        return count
    }

    private func start(_ input: UnsafeRawBufferPointer) throws(FetchError) -> Inflate {
        // A zlib stream begins with 8 in its lower half byte and at most 7 in the upper. In a bare one this would be a stored block that is not
        // the last, with bits set in the padding that all encoders leave zero.
        isWrapped = input.first.map { $0 & 0x8f == 0x08 } ?? true
        guard let made = Inflate(isWrapped ? .zlib : .none) else { throw .outOfMemory(.deflate) }
        stream = made
        return made
    }
}

extension Inflate {
    /// As `DecodingStage.advance`; also answers whether the stream has ended.
    func advance(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, as coding: ContentCoding
    ) throws(FetchError) -> (count: Int, hasEnded: Bool) {
        let (count, outcome) = advance(&input, into: output)
        switch outcome {
        case .more: return (count, false)
        case .ended: return (count, true)
        case .damaged(let detail): throw .malformed(coding, detail: detail)
        case .outOfMemory: throw .outOfMemory(coding)
        }
    }
}
