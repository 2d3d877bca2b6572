/// Writes numbers and texts compactly; the other end is `ByteReader`.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func raw(_ value: [UInt8]) { bytes += value }

    /// Seven bits a byte, the lowest first.
    mutating func unsigned(_ value: UInt64) {
        var rest = value
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Small numbers of either sign are short.
    mutating func signed(_ value: Int64) { unsigned(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

    mutating func text(_ value: String) {
        unsigned(UInt64(value.utf8.count))
        bytes += value.utf8
    }
}
