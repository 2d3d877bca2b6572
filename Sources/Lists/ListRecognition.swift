/// Recognizes a list by its first bytes. Its file's name tells nothing: `urls.txt` may be a table, and standard input has no name.
struct ListRecognition {
    private let head: [UInt8]
    private let isDecisive: Bool
    private let options: ListOptions
    /// How many bytes of a byte order mark the list begins with.
    let markLength: Int

    /// Within so many bytes the first two lines end, or they tell nothing.
    private static let enough = 64 * 1024
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Parameter isWhole: Whether the list ends here.
    init(head: [UInt8], isWhole: Bool, options: ListOptions) {
        self.head = head
        self.options = options
        isDecisive = isWhole || head.count >= Self.enough
        markLength = head.starts(with: Self.mark) ? Self.mark.count : 0
    }

    /// Nil when that takes more bytes.
    func kind() throws -> ListKind? {
        if !isDecisive, Self.mark.starts(with: head) { return nil }
        guard try isNothingElse(), try isText() else { return nil }
        if isWebPage { throw ListError.webPage }
        switch options.format {
        case nil: return try byContent()
        case .text?: return .text
        case .tsv?: return .table(delimiter: UInt8(ascii: "\t"))
        case .jsonl?: return .jsonLines
        case .sitemap?: return .sitemap
        case .parquet?: throw ListError.other("no Parquet file")
        case .csv?:
            guard let line = firstLine, isEnded(line) else { return isDecisive ? .table(delimiter: UInt8(ascii: ",")) : nil }
            return .table(delimiter: Self.delimiter(of: line, among: ",;") ?? UInt8(ascii: ","))
        }
    }

    /// False while the bytes could still become one of these.
    private func isNothingElse() throws -> Bool {
        for (signature, what) in Self.others {
            if head.starts(with: signature) { throw ListError.other(what) }
            if !isDecisive, signature.starts(with: head) { return false }
        }
        return true
    }

    /// False while more bytes have to tell. Rows come out a line at a time, so a list loses nothing by waiting for its first line.
    ///
    /// A first line that is no plain text may be one bad row, or the beginning of a binary file. More bytes tell: text in any encoding has
    /// few control characters.
    private func isText() throws -> Bool {
        guard let line = firstLine, isEnded(line) else { return isDecisive }
        let start = line.prefix(Self.sample)
        if !start.contains(where: Self.isControl), String(validating: start, as: UTF8.self) != nil { return true }
        guard isDecisive || head.count >= Self.sample else { return false }
        let sample = head.prefix(Self.sample)
        guard sample.count(where: Self.isControl) * 20 > sample.count else { return true }
        guard let encoding = Self.wideEncoding(of: sample) else { throw ListError.other("a binary file; a list of URLs is text") }
        throw ListError.other("text that looks like UTF-16 without a byte order mark; \(Self.conversion(from: encoding))")
    }

    /// The kind of UTF-16 that has a NUL as one byte of most characters, and never as the other. URLs are nearly all ASCII.
    private static func wideEncoding(of sample: ArraySlice<UInt8>) -> String? {
        let nuls = sample.enumerated().reduce(into: [0, 0]) { counts, next in counts[next.offset % 2] += next.element == 0 ? 1 : 0 }
        guard nuls.contains(0), nuls.reduce(0, +) * 4 > sample.count else { return nil }
        return nuls[0] == 0 ? "UTF-16LE" : "UTF-16BE"
    }

    private static func conversion(from encoding: String) -> String {
        "UTF-8 is what can be read, and 'iconv -f \(encoding) -t UTF-8' makes it"
    }

    /// HTML is seldom well-formed XML, and the line where it is not says nothing to its reader.
    private var isWebPage: Bool {
        guard let line = firstLine else { return false }
        let start = String(decoding: line.prefix(Self.longestPageStart), as: UTF8.self).lowercased()
        return Self.pageStarts.contains { start.hasPrefix($0) }
    }

    private static let pageStarts = ["<!doctype html", "<html>", "<html ", "<html\r", "<head>", "<body>"]
    private static let longestPageStart = 14

    private static let sample = 512

    private static func isControl(_ byte: UInt8) -> Bool {
        switch byte {
        // Bell to carriage return, which stand in some texts, and the escape of terminals' colours.
        case 0x07...0x0D, 0x1B: false
        default: byte < 0x20 || byte == 0x7F
        }
    }

    private static let others: [(signature: [UInt8], what: String)] = [
        (Array("PK\u{3}\u{4}".utf8), "a zip archive, which has to be unpacked first"),
        ([0x28, 0xB5, 0x2F, 0xFD], "compressed with zstd; gzip is what can be read"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "compressed with xz; gzip is what can be read"),
        (Array("BZh".utf8), "compressed with bzip2; gzip is what can be read"),
        ([0x1F, 0x8B], "compressed with gzip twice"),
        (Array("%PDF-".utf8), "a PDF; a list of URLs is text"),
        (Array("PAR1".utf8), "a Parquet file, whose contents can only be read from a file that is named"),
        ([0xFF, 0xFE], "text in UTF-16; \(conversion(from: "UTF-16"))"),
        ([0xFE, 0xFF], "text in UTF-16; \(conversion(from: "UTF-16"))"),
    ]

    private func byContent() throws -> ListKind? {
        guard let first = head[markLength...].first(where: { !$0.isSpace }) else { return isDecisive ? .text : nil }
        switch first {
        case UInt8(ascii: "<"): return .sitemap
        case UInt8(ascii: "{"): return .jsonLines
        case UInt8(ascii: "["): throw ListError.jsonArray
        case UInt8(ascii: "#"): return .text
        default: return tableOrText()
        }
    }

    /// A header contains no URL. The next line tells a delimiter from a comma in a line of text.
    private func tableOrText() -> ListKind? {
        guard let line = firstLine else { return nil }
        let delimiter = Self.delimiter(of: line, among: "\t,;")
        let table = ListKind.table(delimiter: delimiter ?? UInt8(ascii: ","))
        if options.column != nil { return isEnded(line) ? table : nil }
        if line.firstRange(of: Array("://".utf8)) != nil { return .text }
        guard isEnded(line) else { return nil }
        if line.first == .quote { return table }
        guard let delimiter else { return ColumnNames.isUsual(line) ? table : .text }
        let rest = head[line.endIndex...]
        let next = rest.dropFirst().prefix { $0 != .lineFeed }
        if next.contains(delimiter) { return table }
        guard isEnded(next) else { return nil }
        return line.split(separator: delimiter).contains(where: ColumnNames.isUsual) ? table : .text
    }

    /// The first line that is not blank, as far as it is there.
    private var firstLine: ArraySlice<UInt8>? {
        guard let start = head[markLength...].firstIndex(where: { !$0.isSpace }) else { return nil }
        return head[start...].prefix { $0 != .lineFeed }
    }

    private func isEnded(_ line: ArraySlice<UInt8>) -> Bool { isDecisive || line.endIndex < head.count }

    private static func delimiter(of line: ArraySlice<UInt8>, among candidates: String) -> UInt8? {
        candidates.utf8.first { line.contains($0) }
    }
}

/// The recognized kind of a list, with everything that its parser has to know.
enum ListKind: Equatable {
    case text
    case table(delimiter: UInt8)
    case jsonLines
    case sitemap

    var format: ListFormat {
        switch self {
        case .text: .text
        case .table(let delimiter): delimiter == UInt8(ascii: "\t") ? .tsv : .csv
        case .jsonLines: .jsonl
        case .sitemap: .sitemap
        }
    }

    /// An option without effect is an error: its user expects another list.
    func check(_ options: ListOptions) throws {
        let given: [(ListError.Option, Bool, Set<ListFormat>)] = [
            (.column, options.column != nil, [.csv, .tsv]),
            (.idColumn, options.idColumn != nil, [.csv, .tsv, .jsonl]),
            (.field, options.field != nil, [.jsonl]),
            (.carry, !options.carried.isEmpty, [.csv, .tsv, .jsonl]),
        ]
        for (option, isGiven, formats) in given where isGiven && !formats.contains(format) {
            throw ListError.optionDoesNotApply(option, format)
        }
    }

    func parser(_ options: ListOptions) -> any RowParser {
        switch self {
        case .text: LineSplitter(TextLines())
        case .table(let delimiter): LineSplitter(TableRows(delimiter: delimiter, options: options))
        case .jsonLines: LineSplitter(JSONLines(options))
        case .sitemap: SitemapRows()
        }
    }
}
