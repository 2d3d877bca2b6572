/// Reads packed formats: big-endian numbers and counted bytes, `nil` at the end.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { rest = ArraySlice(Array(bytes)) }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number(_ count: Int) -> Int? {
        guard let bytes = bytes(count) else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func all() -> ArraySlice<UInt8> {
        defer { rest = [] }
        return rest
    }
}

extension [UInt8] {
    /// Appends the lowest `count` bytes of a number, the highest first; one that does not fit as the highest that does.
    mutating func append(number: Int, count: Int) {
        let value = Swift.max(0, Swift.min(number, count >= 8 ? .max : 1 << (count * 8) - 1))
        for index in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: value >> (index * 8))) }
    }
}
