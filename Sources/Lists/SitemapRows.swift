import GannetBase

/// A sitemap or an index of sitemaps: the text of each `<loc>` in a `<url>` or `<sitemap>`, whatever the prefix of its namespace. A deeper `<loc>` belongs
/// to something else, such as an image of a page.
///
/// A document with a DTD of its own is refused. Only XML's five entities, and numbers, are known.
struct SitemapRows: RowParser {
    private var markup = MarkupScanner()
    private var depth = 0
    private var line = 1
    private var location: LocationText?
    private let limit: Int

    /// A `<loc>` is the root's grandchild.
    private static let locationDepth = 3
    private static let locationName = Array("loc".utf8)

    init(limit: Int = ListLimits.row) { self.limit = limit }

    mutating func take(_ chunk: UnsafeRawBufferPointer, into rows: inout RowBatch) throws {
        for byte in chunk {
            if let event = try markup.take(byte, line: line) {
                try handle(event, into: &rows)
            }
            if byte == .lineFeed { line += 1 }
        }
    }

    mutating func finish(into rows: inout RowBatch) throws {
        guard depth == 0, markup.hasRoot, markup.isBetween else { throw ListError.endsEarly(line: line) }
    }

    private mutating func handle(_ event: MarkupScanner.Event, into rows: inout RowBatch) throws {
        switch event {
        case .text(let byte):
            guard depth > 0 || byte.isSpace else { throw ListError.badXML(line: line) }
            location?.append(byte)
        case .verbatim(let byte): location?.appendVerbatim(byte)
        case .verbatimEnd: location?.dropBrackets()
        case .start(let name, let begun):
            depth += 1
            if depth == Self.locationDepth, name == Self.locationName { location = LocationText(line: begun, limit: limit) }
        case .end:
            guard depth > 0 else { throw ListError.badXML(line: line) }
            if depth == Self.locationDepth, let location {
                location.end(into: &rows)
                self.location = nil
            }
            depth -= 1
        case .empty(let name, let begun):
            if depth == Self.locationDepth - 1, name == Self.locationName { rows.refuse(begun, .empty) }
        }
    }
}

/// The text of a `<loc>` as it comes, with XML's own entities replaced.
struct LocationText {
    private let line: Int
    private let limit: Int
    private var text: [UInt8] = []
    /// The characters behind an `&`, up to a `;`.
    private var entity: [UInt8]?
    private var problem: RowProblem?

    /// The longest entity is a number.
    private static let longestEntity = 10

    init(line: Int, limit: Int) {
        self.line = line
        self.limit = limit
    }

    mutating func append(_ byte: UInt8) {
        if entity != nil {
            appendToEntity(byte)
        } else if byte == UInt8(ascii: "&") {
            entity = []
        } else {
            appendVerbatim(byte)
        }
    }

    mutating func appendVerbatim(_ byte: UInt8) {
        guard text.count < limit else {
            problem = problem ?? .tooLong(limit: limit)
            return
        }
        text.append(byte)
    }

    /// The two brackets that end a CDATA section have come as part of its text.
    mutating func dropBrackets() { text.removeLast(min(2, text.count)) }

    func end(into rows: inout RowBatch) {
        if entity != nil { return rows.refuse(line, .unknownEntity) }
        if let problem { return rows.refuse(line, problem) }
        var trimmed = text[...]
        while trimmed.first?.isSpace == true { trimmed.removeFirst() }
        while trimmed.last?.isSpace == true { trimmed.removeLast() }
        trimmed.withUnsafeBytes { rows.append(line, url: $0) }
    }

    private mutating func appendToEntity(_ byte: UInt8) {
        guard byte == UInt8(ascii: ";") else {
            if let count = entity?.count, count < Self.longestEntity {
                entity?.append(byte)
            } else {
                fail()
            }
            return
        }
        guard let replacement = entity.flatMap(Self.replacement) else { return fail() }
        entity = nil
        for byte in replacement { appendVerbatim(byte) }
    }

    private mutating func fail() {
        entity = nil
        problem = problem ?? .unknownEntity
    }

    private static func replacement(of entity: [UInt8]) -> [UInt8]? {
        switch String(decoding: entity, as: UTF8.self) {
        case "amp": return [UInt8(ascii: "&")]
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default:
            guard entity.first == UInt8(ascii: "#") else { return nil }
            let isHexadecimal = entity.dropFirst().first == UInt8(ascii: "x")
            let digits = entity.dropFirst(isHexadecimal ? 2 : 1)
            let radix: UInt32 = isHexadecimal ? 16 : 10
            guard !digits.isEmpty else { return nil }
            var number: UInt32 = 0
            for byte in digits {
                // The bound on an entity's length keeps this from overflowing.
                guard let digit = byte.hexadecimalDigit.map(UInt32.init), digit < radix, number < 0x110000 else { return nil }
                number = number * radix + digit
            }
            return Unicode.Scalar(number).flatMap(UTF8.encode).map(Array.init)
        }
    }
}
