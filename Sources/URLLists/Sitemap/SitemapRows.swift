/// A sitemap or an index of sitemaps: the text of each `<loc>` that says where a `<url>` or `<sitemap>` is, whatever the prefix of its namespace. A `<loc>`
/// deeper down belongs to something else, such as an image of a page.
///
/// Nothing is declared and nothing expanded: a document with a DTD of its own is refused, and of entities only XML's five are known.
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

    mutating func take(_ chunk: UnsafeRawBufferPointer, into rows: inout RowBatch) throws(ListError) {
        for byte in chunk {
            if let event = try markup.take(byte, line: line) {
                try handle(event, into: &rows)
            }
            if byte == .lineFeed { line += 1 }
        }
    }

    mutating func finish(into rows: inout RowBatch) throws(ListError) {
        guard depth == 0, markup.hasRoot, markup.isBetween else { throw .endsEarly(line: line) }
    }

    private mutating func handle(_ event: MarkupScanner.Event, into rows: inout RowBatch) throws(ListError) {
        switch event {
        case .text(let byte):
            guard depth > 0 || byte.isSpace else { throw .badXML(line: line) }
            location?.append(byte)
        case .verbatim(let byte): location?.appendVerbatim(byte)
        case .verbatimEnd: location?.dropBrackets()
        case .start(let name, let begun):
            depth += 1
            if depth == Self.locationDepth, name == Self.locationName { location = LocationText(line: begun, limit: limit) }
        case .end:
            guard depth > 0 else { throw .badXML(line: line) }
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
