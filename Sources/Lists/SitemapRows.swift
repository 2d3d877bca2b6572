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
    private static let indexName = Array("sitemapindex".utf8)

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
            if depth == 1, name == Self.indexName { rows.listsSitemaps = true }
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

/// The text of a `<loc>` as it comes.
struct LocationText {
    private let line: Int
    private let limit: Int
    /// With entities as they are written. The `&` of a CDATA section is written as one.
    private var text: [UInt8] = []
    private var isTooLong = false

    private static let entities: [String: Unicode.Scalar] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
    /// The longest entity is a number.
    private static let longestEntity = 10

    init(line: Int, limit: Int) {
        self.line = line
        self.limit = limit
    }

    mutating func append(_ byte: UInt8) {
        if text.count < limit { text.append(byte) } else { isTooLong = true }
    }

    mutating func appendVerbatim(_ byte: UInt8) {
        append(byte)
        if byte == UInt8(ascii: "&") { for byte in "amp;".utf8 { append(byte) } }
    }

    /// The two brackets that end a CDATA section have come as part of its text.
    mutating func dropBrackets() { text.removeLast(min(2, text.count)) }

    func end(into rows: inout RowBatch) {
        if isTooLong { return rows.refuse(line, .tooLong(limit: limit)) }
        guard var url = plain()?[...] else { return rows.refuse(line, .unknownEntity) }
        while url.first?.isSpace == true { url.removeFirst() }
        while url.last?.isSpace == true { url.removeLast() }
        url.withUnsafeBytes { rows.append(line, url: $0) }
    }

    /// With entities replaced; nil when one is unknown.
    private func plain() -> [UInt8]? {
        var result: [UInt8] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += rest[..<start]
            let entity = rest[(start + 1)...].prefix(Self.longestEntity + 1)
            guard let end = entity.firstIndex(of: UInt8(ascii: ";")),
                let scalar = Self.scalar(String(decoding: entity[..<end], as: UTF8.self))
            else { return nil }
            result += String(scalar).utf8
            rest = rest[(end + 1)...]
        }
        return result + rest
    }

    private static func scalar(_ entity: String) -> Unicode.Scalar? {
        if let known = entities[entity] { return known }
        guard entity.hasPrefix("#") else { return nil }
        let isHexadecimal = entity.hasPrefix("#x")
        let digits = entity.dropFirst(isHexadecimal ? 2 : 1)
        // `UInt32` would read a sign, too.
        guard digits.first?.isHexDigit == true else { return nil }
        return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
    }
}
