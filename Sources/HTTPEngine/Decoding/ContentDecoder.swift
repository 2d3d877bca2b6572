/// Decodes one body as it arrives, used on one thread.
///
/// libcurl could decode too, but takes a compressed stream that was cut for a whole one.
///
/// Nothing is allocated before the first byte of the body. Then each encoding has a buffer of 64 KiB and what its library allocates: at
/// most 0.1 MB for gzip and deflate, 9 MB for zstd (a window of 8 MB) and 28 MB for brotli (a window of 16 MB, which is copied when it
/// grows). A small body takes a small part of that.
package final class ContentDecoder {
    /// How many encodings on top of each other are undone.
    package static let maximumEncodings = 3

    /// In the order in which they are undone.
    private let steps: [DecodingStep]
    private let intermediateLimit: Int64
    private var failure: DecodingFailure?

    /// Refuses what it could not decode.
    /// - Parameters:
    ///   - encodings: In small letters and the order in which they were applied, as the header lists them; `identity` and empty names
    ///     are nothing.
    ///   - intermediateLimit: The most bytes that the undoing of one encoding may hand to the next. Whoever takes the decoded bytes sees
    ///     only what the last one makes of them, which may be nothing while the others work a thousand times as much as was received.
    package init(encodings: [String], intermediateLimit: Int64) throws(DecodingFailure) {
        let names = encodings.filter { $0 != "identity" && !$0.isEmpty }
        guard names.count <= Self.maximumEncodings else { throw .tooManyEncodings(names.count) }
        var steps: [DecodingStep] = []
        for name in names.reversed() {
            guard let coding = ContentCoding(name: name) else { throw .unknownEncoding(name) }
            steps.append(DecodingStep(coding))
        }
        self.steps = steps
        self.intermediateLimit = intermediateLimit
    }

    /// Takes the next bytes of the body and hands out what they decode to in pieces of at most 64 KiB, which are valid only during the call.
    ///
    /// A few bytes may come to as much as `sink` takes: it answers false when that is enough; nothing more is decoded
    /// then, and the decoder is of no more use. Input that comes to nothing is endless in some encodings: count also what is passed in.
    /// - Returns: Whether the sink took everything.
    package func decode(_ bytes: UnsafeRawBufferPointer, into sink: (UnsafeRawBufferPointer) -> Bool) throws(DecodingFailure) -> Bool {
        if let failure { throw failure }
        do throws(DecodingFailure) {
            return try pass(bytes, to: 0, sink)
        } catch {
            failure = error
            throw error
        }
    }

    /// To be called when the body has ended: throws when its encoding has not.
    ///
    /// A body without a single byte is whole. Answers to HEAD, 304 and many a 200 without content name an encoding all the same, and browsers
    /// and curl take them for empty; that a body was lost as a whole is for the length and the connection to tell.
    package func finish() throws(DecodingFailure) {
        if let failure { throw failure }
        for step in steps where !step.isComplete { throw .truncated(step.coding) }
    }

    private func pass(
        _ bytes: UnsafeRawBufferPointer, to index: Int, _ sink: (UnsafeRawBufferPointer) -> Bool
    ) throws(DecodingFailure) -> Bool {
        guard index < steps.count else { return sink(bytes) }
        let step = steps[index]
        var input = bytes
        while let piece = try step.next(&input) {
            if index + 1 < steps.count, step.decodedBytes > intermediateLimit { throw .tooLarge(step.coding, limit: intermediateLimit) }
            guard try pass(piece, to: index + 1, sink) else { return false }
        }
        return true
    }
}
