/// Decodes one body as it arrives, used on one thread.
///
/// libcurl could decode too, but takes a compressed stream that was cut for a whole one.
///
/// Nothing is allocated before the first byte of the body. Then each encoding has a buffer of 64 KiB and the memory of its library. That is
/// at most 0.1 MB for gzip and deflate, and 9 MB for zstd (a window of 8 MB). For brotli it is at most 28 MB: its window of 16 MB is copied
/// when it grows. A small body takes a small part of that.
package final class ContentDecoder {
    /// How many encodings on top of each other are undone.
    package static let maximumEncodings = 3

    /// In the order in which they are undone.
    private let steps: [DecodingStep]
    private let intermediateLimit: Int64
    private var failure: FetchError?

    /// Throws for encodings that it cannot decode.
    /// - Parameters:
    ///   - encodings: In small letters and the order in which they were applied, as the header lists them. `identity` and empty names are
    ///     skipped.
    ///   - intermediateLimit: The most bytes that one step may hand to the next. The caller sees only the output of the last step, which may
    ///     be nothing while the others produce a thousand times the received bytes.
    package init(encodings: [String], intermediateLimit: Int64) throws(FetchError) {
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

    /// Takes the next bytes of the body and hands out their decoded form in pieces of at most 64 KiB, which are valid only during the call.
    ///
    /// A few bytes may decode to any amount: `sink` answers false when it has enough. Nothing more is decoded then, and the decoder is of no
    /// more use. Some encodings permit endless input without output: count the bytes that are passed in, too.
    /// - Returns: Whether the sink took everything.
    package func decode(_ bytes: UnsafeRawBufferPointer, into sink: (UnsafeRawBufferPointer) -> Bool) throws(FetchError) -> Bool {
        if let failure { throw failure }
        do throws(FetchError) {
            return try pass(bytes, to: 0, sink)
        } catch {
            failure = error
            throw error
        }
    }

    /// To be called when the body has ended: throws when its encoding has not.
    ///
    /// A body without a single byte is whole. Answers to HEAD, 304 and some 200 without content name an encoding nevertheless, and browsers
    /// and curl take them for empty. The length and the connection tell whether a whole body was lost.
    package func finish() throws(FetchError) {
        if let failure { throw failure }
        for step in steps where !step.isComplete { throw .truncated(step.coding) }
    }

    private func pass(
        _ bytes: UnsafeRawBufferPointer, to index: Int, _ sink: (UnsafeRawBufferPointer) -> Bool
    ) throws(FetchError) -> Bool {
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

/// A content coding that can be undone here.
package enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// By its name in a header, in small letters; `x-gzip` is gzip's name from before it was registered.
    package init?(name: String) {
        guard let coding = name == "x-gzip" ? .gzip : Self(rawValue: name) else { return nil }
        self = coding
    }
}

extension ResponseHeaders {
    /// The names of the body's encodings, in small letters and in the order in which they were applied, at most five. Names without effect are
    /// left out.
    package func encodings(of header: StaticString = "content-encoding") -> [String] {
        guard has(header) else { return [] }
        let names = values(of: header.description).joined(separator: ",").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        return names.lazy.map { String($0.prefix(40)) }.filter { !Self.harmlessEncodings.contains($0) }.prefix(5).map(\.self)
    }

    private static let harmlessEncodings: Set<String> = ["identity", "none", "chunked"]
}

/// Why an encoded body cannot be decoded. The decoder does not know the URL of its body.
extension FetchError {
    private init(decoding detail: String) { self.init(kind: .badEncoding, url: "", detail: detail) }

    /// An encoding that is not decoded here; its name as it was given.
    static func unknownEncoding(_ name: String) -> Self {
        Self(decoding: "the body is \(name.escapedForDisplay)-encoded, which is not one of gzip, deflate, br and zstd")
    }

    /// More encodings on top of each other than are decoded.
    static func tooManyEncodings(_ count: Int) -> Self {
        Self(decoding: "the body is encoded \(count) times over, and at most \(ContentDecoder.maximumEncodings) times are undone")
    }

    /// The body ended before its encoding did.
    static func truncated(_ coding: ContentCoding) -> Self {
        Self(decoding: "the \(coding.rawValue)-encoded body was cut: it ends before its encoding does")
    }

    /// The bytes are not of the encoding, their checksum is wrong, or they ask for more memory than is permitted.
    /// - Parameter detail: The reason in the library's words.
    static func malformed(_ coding: ContentCoding, detail: String) -> Self {
        Self(decoding: "the body cannot be decoded as \(coding.rawValue): \(detail)")
    }

    /// A body that was encoded more than once has more than `limit` bytes when only some of its encodings are undone.
    static func tooLarge(_ coding: ContentCoding, limit: Int64) -> Self {
        Self(decoding: "the body decodes as \(coding.rawValue) to more than \(limit.of("byte")) of still encoded data")
    }

    /// This machine has no memory for the decoder.
    static func outOfMemory(_ coding: ContentCoding) -> Self {
        Self(decoding: "there is no memory to decode a body as \(coding.rawValue)")
    }
}
