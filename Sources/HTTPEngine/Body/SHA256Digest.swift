import COpenSSL

/// 32 bytes of SHA-256.
public struct SHA256Digest: Sendable, Hashable {
    // Four words instead of an array: a digest costs no allocation.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// The digest whose 32 bytes are given; nil for any other count.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        self = Array(bytes).withUnsafeBytes { Self(raw: $0) }
    }

    /// The digest of the bytes.
    public init(of bytes: some Collection<UInt8>) {
        let hasher = SHA256Hasher()
        Array(bytes).withUnsafeBytes { hasher.update($0) }
        self = hasher.finish()
    }

    init(raw: UnsafeRawBufferPointer) {
        words = (
            raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self), raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
            raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self), raw.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        )
    }

    /// The 32 bytes in order.
    public var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    public func hash(into hasher: inout Hasher) { withUnsafeBytes(of: words) { hasher.combine(bytes: $0) } }
}

extension SHA256Digest: CustomStringConvertible {
    /// 64 hexadecimal digits in lower case.
    public var description: String { bytes.hexadecimal }
}

extension [UInt8] {
    /// Two lower-case digits for each byte.
    package var hexadecimal: String {
        let digits = [UInt8]("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
