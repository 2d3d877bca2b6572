internal import GannetBasics

/// deflate: a zlib stream (RFC 1950) by the standard, and a bare deflate stream (RFC 1951) as some servers have always sent it.
///
/// Behind the end of a zlib stream, as behind gzip's, anything is ignored, since its checksum has been right. A bare stream has none
/// and must end where the body ends: damaged bytes could mean an early end.
final class DeflateStage: DecodingStage {
    private var stream: Inflate?
    private var isWrapped = false
    private var hasEnded = false

    var isComplete: Bool { hasEnded }

    func advance(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(DecodingFailure) -> Int {
        guard !hasEnded else {
            guard isWrapped || input.isEmpty else { throw .malformed(.deflate, detail: "there is something behind its end") }
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst(input.count))
            return 0
        }
        let stream = if let stream { stream } else { try start(input) }
        let (count, hasEnded) = try stream.advance(&input, into: output, as: .deflate)
        self.hasEnded = hasEnded
        return count
    }

    private func start(_ input: UnsafeRawBufferPointer) throws(DecodingFailure) -> Inflate {
        // A zlib stream begins with 8 in its lower half byte and at most 7 in the upper. In a bare one this would be a stored block that is not
        // the last, with bits set in the padding that everybody leaves zero.
        isWrapped = input.first.map { $0 & 0x8f == 0x08 } ?? true
        guard let made = Inflate(isWrapped ? .zlib : .none) else { throw .outOfMemory(.deflate) }
        stream = made
        return made
    }
}
