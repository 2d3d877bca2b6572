/// Why an encoded body cannot be decoded.
package enum DecodingFailure: Error, Sendable, Hashable {
    /// An encoding that is not undone here; its name as it was given.
    case unknownEncoding(String)
    /// More encodings on top of each other than anyone means.
    case tooManyEncodings(Int)
    /// The body ended before its encoding did.
    case truncated(ContentCoding)
    /// The bytes are not of the encoding, their checksum is wrong, or they ask for more memory than its bound; why, in the library's words.
    case malformed(ContentCoding, detail: String)
    /// A body encoded more than once comes to more than `limit` bytes when only some of its encodings are undone.
    case tooLarge(ContentCoding, limit: Int64)
    /// This machine has no memory for the decoder.
    case outOfMemory(ContentCoding)
}

extension DecodingFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownEncoding(let name): "the body is \(name.escapedForDisplay)-encoded, which is not one of gzip, deflate, br and zstd"
        case .tooManyEncodings(let count):
            "the body is encoded \(count) times over, and at most \(ContentDecoder.maximumEncodings) times are undone"
        case .truncated(let coding): "the \(coding.rawValue)-encoded body was cut: it ends before its encoding does"
        case .malformed(let coding, let detail): "the body cannot be decoded as \(coding.rawValue): \(detail)"
        case .tooLarge(let coding, let limit):
            "the body decodes as \(coding.rawValue) to more than \(limit.of("byte")) of what is encoded once more"
        case .outOfMemory(let coding): "there is no memory to decode a body as \(coding.rawValue)"
        }
    }
}
