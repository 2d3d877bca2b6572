/// The characters of a text in UTF-16, UTF-8 or another encoding that contains ASCII, one after the other. Markup consists of ASCII; `other` stands
/// for everything else.
struct Markup {
    private let source: ByteSource
    private var offset: Int
    /// Bytes in a unit.
    private let width: Int
    private let order: ByteOrder

    static let other: UInt8 = 0xff

    /// Nil unless the first character that is not a blank is `<`, and the next may begin a name, a declaration or an instruction.
    init?(_ source: ByteSource) {
        self.source = source
        switch (source.byte(at: 0), source.byte(at: 1), source.byte(at: 2)) {
        case (0xff, 0xfe, _): (offset, width, order) = (2, 2, .little)
        case (0xfe, 0xff, _): (offset, width, order) = (2, 2, .big)
        case (0x3c, 0, _): (offset, width, order) = (0, 2, .little)
        case (0, 0x3c, _): (offset, width, order) = (0, 2, .big)
        case (0xef, 0xbb, 0xbf): (offset, width, order) = (3, 1, .big)
        default: (offset, width, order) = (0, 1, .big)
        }
        skipBlanks()
        var ahead = self
        guard ahead.take("<"), let first = ahead.peek() else { return nil }
        guard "!?".utf8.contains(first) || Self.isLetter(first) else { return nil }
    }

    func peek() -> UInt8? {
        guard let unit = source.number(at: offset, size: width, order) else { return nil }
        return unit < 0x80 ? UInt8(unit) : Self.other
    }

    mutating func next() -> UInt8? {
        guard let unit = peek() else { return nil }
        offset += width
        return unit
    }

    mutating func skipBlanks() {
        while let unit = peek(), Self.isBlank(unit) { offset += width }
    }

    /// Takes the text if it is what comes next.
    mutating func take(_ text: StaticString) -> Bool {
        let start = offset
        for index in 0..<text.utf8CodeUnitCount where next() != text.withUTF8Buffer({ $0[index] }) {
            offset = start
            return false
        }
        return true
    }

    /// Takes everything up to the unit, and the unit; false if it does not come.
    mutating func skip(past unit: UInt8) -> Bool {
        if width == 1 {
            let found = source.firstIndex(of: unit, from: offset)
            offset = found.map { $0 + 1 } ?? source.count
            return found != nil
        }
        while let next = next() { if next == unit { return true } }
        return false
    }

    /// Whether it may be the first of a name.
    static func isLetter(_ unit: UInt8) -> Bool {
        (0x61...0x7a).contains(unit | 0x20) || unit == UInt8(ascii: "_") || unit == UInt8(ascii: ":") || unit == other
    }

    static func isBlank(_ unit: UInt8) -> Bool { unit == 0x20 || unit == 0x0a || unit == 0x0d || unit == 0x09 }
}

/// The constructs of XML. Each function begins behind the characters that announce the construct, and answers nil or false if the text ends within it.
extension Markup {
    /// Behind `<!--`.
    mutating func skipComment() -> Bool { skip(past: UInt8(ascii: "-"), times: 2) }
    /// Behind `<?`.
    mutating func skipInstruction() -> Bool { skip(past: UInt8(ascii: "?"), times: 1) }
    /// Behind `<![CDATA[`.
    mutating func skipVerbatim() -> Bool { skip(past: UInt8(ascii: "]"), times: 2) }

    /// Behind the name that a document type declares, with or without declarations of its own in brackets.
    mutating func skipDocumentType() -> Bool {
        var isInBrackets = false
        while let unit = next() {
            switch unit {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): guard skip(past: unit) else { return false }
            // In these a quotation mark means nothing.
            case UInt8(ascii: "<") where take("!--"): guard skipComment() else { return false }
            case UInt8(ascii: "<") where take("?"): guard skipInstruction() else { return false }
            case UInt8(ascii: "["): isInBrackets = true
            case UInt8(ascii: "]"): isInBrackets = false
            case UInt8(ascii: ">") where !isInBrackets: return true
            default: break
            }
        }
        return false
    }

    /// Behind the name in a start tag: whether it is that of an empty element.
    mutating func skipTag() -> Bool? {
        var last = Self.other
        while let unit = next() {
            switch unit {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): guard skip(past: unit) else { return nil }
            case UInt8(ascii: ">"): return last == UInt8(ascii: "/")
            default: break
            }
            last = unit
        }
        return nil
    }

    /// The name that begins here, which is nil also if it is too long to be one that matters.
    mutating func name() -> [UInt8]? {
        var name: [UInt8] = []
        while let unit = peek(), name.count < 256 {
            if Self.isBlank(unit) || "/>=<\"'[?!".utf8.contains(unit) { return name }
            name.append(unit)
            _ = next()
        }
        return nil
    }

    /// The attribute that begins here; of a value longer than any that matters no more than its first 256 units.
    mutating func attribute() -> (name: [UInt8], value: [UInt8])? {
        guard let name = name(), !name.isEmpty else { return nil }
        skipBlanks()
        guard take("=") else { return nil }
        skipBlanks()
        guard let quote = next(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        var value: [UInt8] = []
        while value.count < 256, let unit = next() {
            if unit == quote { return (name, value) }
            value.append(unit)
        }
        return skip(past: quote) ? (name, value) : nil
    }

    /// Everything up to a `>` before which the unit stands so many times.
    private mutating func skip(past unit: UInt8, times: Int) -> Bool {
        var run = 0
        while let next = next() {
            if next == UInt8(ascii: ">"), run >= times { return true }
            run = next == unit ? run + 1 : 0
        }
        return false
    }
}
