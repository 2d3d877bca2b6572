/// The constructs of XML. Each function begins behind what tells the construct, and answers nil or false if the text ends before it does.
extension Markup {
    /// Behind `<!--`.
    mutating func skipComment(_ source: inout ByteSource) -> Bool { skip(past: UInt8(ascii: "-"), times: 2, &source) }
    /// Behind `<?`.
    mutating func skipInstruction(_ source: inout ByteSource) -> Bool { skip(past: UInt8(ascii: "?"), times: 1, &source) }
    /// Behind `<![CDATA[`.
    mutating func skipVerbatim(_ source: inout ByteSource) -> Bool { skip(past: UInt8(ascii: "]"), times: 2, &source) }

    /// Behind the name that a document type declares, with or without declarations of its own in brackets.
    mutating func skipDocumentType(_ source: inout ByteSource) -> Bool {
        var isInBrackets = false
        while let unit = next(&source) {
            switch unit {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): guard skip(past: unit, &source) else { return false }
            // In these a quotation mark means nothing.
            case UInt8(ascii: "<") where take("!--", &source): guard skipComment(&source) else { return false }
            case UInt8(ascii: "<") where take("?", &source): guard skipInstruction(&source) else { return false }
            case UInt8(ascii: "["): isInBrackets = true
            case UInt8(ascii: "]"): isInBrackets = false
            case UInt8(ascii: ">") where !isInBrackets: return true
            default: break
            }
        }
        return false
    }

    /// Behind the name in a start tag: whether it is that of an empty element.
    mutating func skipTag(_ source: inout ByteSource) -> Bool? {
        var last = Self.other
        while let unit = next(&source) {
            switch unit {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): guard skip(past: unit, &source) else { return nil }
            case UInt8(ascii: ">"): return last == UInt8(ascii: "/")
            default: break
            }
            last = unit
        }
        return nil
    }

    /// The name that begins here, which is nil also if it is too long to be one that matters.
    mutating func name(_ source: inout ByteSource) -> [UInt8]? {
        var name: [UInt8] = []
        while let unit = peek(&source), name.count < 256 {
            if Self.isBlank(unit) || "/>=<\"'[?!".utf8.contains(unit) { return name }
            name.append(unit)
            _ = next(&source)
        }
        return nil
    }

    /// The attribute that begins here; of a value longer than any that matters no more than its first 256 units.
    mutating func attribute(_ source: inout ByteSource) -> (name: [UInt8], value: [UInt8])? {
        guard let name = name(&source), !name.isEmpty else { return nil }
        skipBlanks(&source)
        guard take("=", &source) else { return nil }
        skipBlanks(&source)
        guard let quote = next(&source), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        var value: [UInt8] = []
        while value.count < 256, let unit = next(&source) {
            if unit == quote { return (name, value) }
            value.append(unit)
        }
        return skip(past: quote, &source) ? (name, value) : nil
    }

    /// Everything up to a `>` before which the unit stands so many times.
    private mutating func skip(past unit: UInt8, times: Int, _ source: inout ByteSource) -> Bool {
        var run = 0
        while let next = next(&source) {
            if next == UInt8(ascii: ">"), run >= times { return true }
            run = next == unit ? run + 1 : 0
        }
        return false
    }
}
