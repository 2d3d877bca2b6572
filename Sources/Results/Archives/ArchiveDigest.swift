internal import GannetBase

/// A running digest. The caller brings it along, because this module has no library for digests.
package protocol ArchiveHasher {
    mutating func update(_ bytes: UnsafeRawBufferPointer)
    /// The digest of all that was given. Nothing is given afterwards.
    mutating func finish() -> [UInt8]
}

/// The algorithm of all digests in a writer's records.
package enum DigestAlgorithm: String, Sendable {
    case sha1, sha256

    var length: Int { self == .sha1 ? 20 : 32 }

    /// As readers of WARC files expect it: base 32 for SHA-1, which is custom, and hexadecimal digits for SHA-256.
    func text(_ digest: [UInt8]) -> String { "\(rawValue):" + (self == .sha1 ? Self.base32(digest) : digest.hexadecimal) }

    /// Twenty bytes are 32 letters, so no padding is needed.
    private static func base32(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        var text: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in bytes {
            bits = (bits << 8 | Int(byte)) & 0xffff
            count += 8
            while count >= 5 {
                count -= 5
                text.append(letters[bits >> count & 31])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
