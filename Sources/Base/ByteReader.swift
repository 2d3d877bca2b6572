/// Reads packed formats; a number or text that is not there whole is nil.
package struct ByteReader {
    private let whole: ArraySlice<UInt8>
    /// Where the rest begins. A slice for each number would cost more than the number.
    private var index: Int

    package init(_ bytes: [UInt8]) { self.init(bytes[...]) }
    package init(_ bytes: ArraySlice<UInt8>) { (whole, index) = (bytes, bytes.startIndex) }

    package var isAtEnd: Bool { index == whole.endIndex }

    package mutating func byte() -> UInt8? {
        guard index < whole.endIndex else { return nil }
        defer { index += 1 }
        return whole[index]
    }

    package mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, whole.endIndex - index >= count else { return nil }
        defer { index += count }
        return whole[index..<index + count]
    }

    package mutating func all() -> ArraySlice<UInt8> {
        defer { index = whole.endIndex }
        return whole[index...]
    }

    /// A number of so many bytes, the highest first.
    package mutating func number(_ count: Int) -> Int? {
        guard count >= 0, whole.endIndex - index >= count else { return nil }
        var value = 0
        for place in index..<index + count { value = value << 8 | Int(whole[place]) }
        index += count
        return value
    }

    /// A number of as many bytes as it takes. A longer spelling than `append(compact:)` makes is refused, so that equal values are equal bytes.
    package mutating func compact() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = byte() else { return nil }
            let bits = UInt64(byte & 0x7f)
            // The tenth byte has one bit to give; a last byte of zero gives none.
            guard (bits << shift) >> shift == bits, byte != 0 || shift == 0 else { return nil }
            value |= bits << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    package mutating func signed() -> Int64? { compact().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) } }

    /// Bounds the memory of whatever is read by it.
    package mutating func count(upTo most: Int) -> Int? { compact().flatMap { $0 <= UInt64(most) ? Int($0) : nil } }

    package mutating func text(upTo most: Int) -> String? {
        guard let count = count(upTo: most), let bytes = bytes(count) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends the lowest `count` bytes of a number, the highest first; a larger number as the highest that fits.
    package mutating func append(number: Int, count: Int) {
        let value = Swift.max(0, Swift.min(number, count >= 8 ? .max : 1 << (count * 8) - 1))
        for index in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: value >> (index * 8))) }
    }

    /// Seven bits a byte, the lowest first.
    package mutating func append(compact number: UInt64) {
        var rest = number
        while rest > 0x7f {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    /// Small numbers of either sign are short.
    package mutating func append(signed number: Int64) { append(compact: UInt64(bitPattern: (number << 1) ^ (number >> 63))) }

    /// Its length, then its bytes.
    package mutating func append(counted text: String) {
        append(compact: UInt64(text.utf8.count))
        append(contentsOf: text.utf8)
    }
}
