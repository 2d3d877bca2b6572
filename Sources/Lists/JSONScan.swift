import GannetBase

/// One pass over a line of JSON that notes where some fields are and builds nothing else. It follows the grammar as far as the structure goes;
/// numbers are taken by their characters, and control characters in strings are let pass.
struct JSONScan {
    enum Found: Equatable {
        /// Between the quotes.
        case string(Range<Int>, isEscaped: Bool)
        case other(Range<Int>)

        /// With the quotes of a string.
        var whole: Range<Int> {
            switch self {
            case .string(let range, _): range.lowerBound - 1..<range.upperBound + 1
            case .other(let range): range
            }
        }
    }

    private let bytes: UnsafeRawBufferPointer
    private let urlPath: FieldPath
    private let idPath: FieldPath?
    private let carriedPaths: [FieldPath]
    /// The next byte; behind a failure, the byte that could not be read.
    private(set) var position = 0
    private(set) var isObject = false
    private(set) var url: Found?
    private(set) var id: Found?
    /// In the order of their paths.
    private(set) var carried: [Found?]

    /// Deeper nesting is an attack.
    private static let deepest = 100

    init(_ bytes: UnsafeRawBufferPointer, url: FieldPath, id: FieldPath?, carried: [FieldPath] = []) {
        self.bytes = bytes
        urlPath = url
        idPath = id
        carriedPaths = carried
        self.carried = Array(repeating: nil, count: carried.count)
    }

    var isAtEnd: Bool { position == bytes.count }

    /// The whole line: one value. False when it is not JSON.
    mutating func line() -> Bool {
        isObject = next == UInt8(ascii: "{")
        let starts = [Int?](repeating: isObject ? 0 : nil, count: carriedPaths.count)
        guard value(url: isObject ? 0 : nil, id: isObject && idPath != nil ? 0 : nil, starts, depth: 0) != nil else { return false }
        skipSpace()
        return isAtEnd
    }

    mutating func skipSpace() {
        while position < bytes.count, bytes[position].isSpace { position += 1 }
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ byte: Character) -> Bool {
        guard next == byte.asciiValue else { return false }
        position += 1
        return true
    }

    /// - Parameters: The places in the paths from which an object's fields are compared; nil where no field is looked for.
    private mutating func value(url: Int?, id: Int?, _ carried: [Int?], depth: Int) -> Found? {
        let start = position
        switch next {
        case UInt8(ascii: "\"")?:
            guard let (range, isEscaped) = string() else { return nil }
            return .string(range, isEscaped: isEscaped)
        case UInt8(ascii: "{")?:
            guard depth < Self.deepest, object(url: url, id: id, carried, depth: depth) else { return nil }
        case UInt8(ascii: "[")?:
            guard depth < Self.deepest, array(depth: depth) else { return nil }
        default:
            guard word() else { return nil }
        }
        return .other(start..<position)
    }

    private mutating func object(url urlStart: Int?, id idStart: Int?, _ starts: [Int?], depth: Int) -> Bool {
        position += 1
        skipSpace()
        if skip("}") { return true }
        while true {
            guard next == .quote, let (range, isEscaped) = string() else { return false }
            let inURL = match(range, isEscaped, urlPath, from: urlStart)
            let inID = idPath.map { match(range, isEscaped, $0, from: idStart) } ?? .no
            let inCarried = starts.isEmpty ? [] : zip(carriedPaths, starts).map { match(range, isEscaped, $0, from: $1) }
            skipSpace()
            guard skip(":") else { return false }
            skipSpace()
            guard let found = value(url: inURL.inside, id: inID.inside, inCarried.map(\.inside), depth: depth + 1) else { return false }
            // As elsewhere, of two fields of one name the last counts.
            if inURL == .here { url = found }
            if inID == .here { id = found }
            for (index, match) in inCarried.enumerated() where match == .here { carried[index] = found }
            skipSpace()
            if skip("}") { return true }
            guard skip(",") else { return false }
            skipSpace()
        }
    }

    private func match(_ name: Range<Int>, _ isEscaped: Bool, _ path: FieldPath, from start: Int?) -> FieldPath.Match {
        guard let start else { return .no }
        let raw = bytes.part(name.lowerBound, name.upperBound)
        guard isEscaped else { return path.match(raw, from: start) }
        return JSONText.unescaped(raw)?.withUnsafeBytes { path.match($0, from: start) } ?? .no
    }

    private mutating func array(depth: Int) -> Bool {
        position += 1
        skipSpace()
        if skip("]") { return true }
        while true {
            guard value(url: nil, id: nil, [], depth: depth + 1) != nil else { return false }
            skipSpace()
            if skip("]") { return true }
            guard skip(",") else { return false }
            skipSpace()
        }
    }

    /// The text between the quotes, and whether there are backslashes in it.
    private mutating func string() -> (Range<Int>, isEscaped: Bool)? {
        let start = position + 1
        var end = start
        var isEscaped = false
        while end < bytes.count, bytes[end] != .quote {
            if bytes[end] == UInt8(ascii: "\\") {
                isEscaped = true
                end += 1
            }
            end += 1
        }
        guard end < bytes.count else { return nil }
        position = end + 1
        return (start..<end, isEscaped)
    }

    /// `true`, `false`, `null` or a number.
    private mutating func word() -> Bool {
        let start = position
        while let byte = next, byte.isInWord { position += 1 }
        let word = bytes.part(start, position)
        guard let first = word.first else { return false }
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return true
        default:
            if ["true", "false", "null"].contains(where: { word.elementsEqual($0.utf8) }) { return true }
            position = start
            return false
        }
    }
}

extension FieldPath.Match {
    fileprivate var inside: Int? {
        if case .inside(let start) = self { start } else { nil }
    }
}

extension UInt8 {
    /// Of a number, `true`, `false` and `null`.
    var isInWord: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
