/// Reads what `ByteWriter` wrote, or anything else: what is not there, or written otherwise than it would, is nil.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func raw(_ count: Int) -> [UInt8]? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func unsigned() -> UInt64? {
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

    mutating func signed() -> Int64? { unsigned().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) } }

    /// At most so many, which bounds what anything read makes.
    mutating func count(upTo most: Int) -> Int? { unsigned().flatMap { $0 <= UInt64(most) ? Int($0) : nil } }

    mutating func text(upTo most: Int) -> String? {
        guard let count = count(upTo: most), let bytes = raw(count) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
