internal import GannetBasics

/// gzip (RFC 1952): any number of members one behind the other, which are one body.
///
/// What comes behind the last member and does not begin as another is ignored. Old servers append zeros, blank lines or a page's
/// footer, and browsers show the page. There is no harm in it, since a checksum has just confirmed the body.
final class GzipStage: DecodingStage {
    private enum Place: Equatable {
        case member, betweenMembers
        /// Behind all members; the first byte there has just passed.
        case tailBegins
        case tail
    }

    private static let magic: (first: UInt8, second: UInt8) = (0x1f, 0x8b)

    private let stream: Inflate
    private var place = Place.member

    init() throws(DecodingFailure) {
        guard let stream = Inflate(.gzip) else { throw .outOfMemory(.gzip) }
        self.stream = stream
    }

    var isComplete: Bool { place != .member }

    func advance(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(DecodingFailure) -> Int {
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
        // Half of the mark of a member is rather a damaged member than something else, and half of a body is none.
        case .tailBegins where byte == Self.magic.second: throw .malformed(.gzip, detail: "what follows the first part is damaged")
        default: place = .tail
        }
        input = UnsafeRawBufferPointer(rebasing: input.dropFirst(place == .tail ? input.count : 1))
        return 0
    }
}
