/// The characters of a text in UTF-8 (or anything else of which ASCII is a part) or UTF-16, one after the other, as ASCII. Markup consists of ASCII;
/// `other` stands for everything else.
struct Markup {
    private var offset: Int
    /// Bytes in a unit.
    private let width: Int
    private let order: ByteOrder

    static let other: UInt8 = 0xff

    /// Nil unless the first character that is not a blank is `<`, and what follows may begin a name, a declaration or an instruction.
    init?(_ source: inout ByteSource) {
        switch (source.byte(at: 0), source.byte(at: 1), source.byte(at: 2)) {
        case (0xff, 0xfe, _): (offset, width, order) = (2, 2, .little)
        case (0xfe, 0xff, _): (offset, width, order) = (2, 2, .big)
        case (0x3c, 0, _): (offset, width, order) = (0, 2, .little)
        case (0, 0x3c, _): (offset, width, order) = (0, 2, .big)
        case (0xef, 0xbb, 0xbf): (offset, width, order) = (3, 1, .big)
        default: (offset, width, order) = (0, 1, .big)
        }
        skipBlanks(&source)
        var ahead = self
        guard ahead.take("<", &source), let first = ahead.peek(&source) else { return nil }
        guard "!?".utf8.contains(first) || Self.isLetter(first) else { return nil }
    }

    func peek(_ source: inout ByteSource) -> UInt8? {
        guard let unit = source.number(at: offset, size: width, order) else { return nil }
        return unit < 0x80 ? UInt8(unit) : Self.other
    }

    mutating func next(_ source: inout ByteSource) -> UInt8? {
        guard let unit = peek(&source) else { return nil }
        offset += width
        return unit
    }

    mutating func skipBlanks(_ source: inout ByteSource) {
        while let unit = peek(&source), Self.isBlank(unit) { offset += width }
    }

    /// Takes the text if it is what comes next.
    mutating func take(_ text: StaticString, _ source: inout ByteSource) -> Bool {
        let start = offset
        for index in 0..<text.utf8CodeUnitCount where next(&source) != text.withUTF8Buffer({ $0[index] }) {
            offset = start
            return false
        }
        return true
    }

    /// Takes everything up to the unit, and the unit; false if it does not come.
    mutating func skip(past unit: UInt8, _ source: inout ByteSource) -> Bool {
        if width == 1 {
            let found = source.firstIndex(of: unit, from: offset)
            offset = found.map { $0 + 1 } ?? source.count
            return found != nil
        }
        while let next = next(&source) { if next == unit { return true } }
        return false
    }

    /// Whether it may be the first of a name.
    static func isLetter(_ unit: UInt8) -> Bool {
        (0x61...0x7a).contains(unit | 0x20) || unit == UInt8(ascii: "_") || unit == UInt8(ascii: ":") || unit == other
    }

    static func isBlank(_ unit: UInt8) -> Bool { unit == 0x20 || unit == 0x0a || unit == 0x0d || unit == 0x09 }
}
