/// A table with a header: the cells of one column, of another for ids, and of others that are carried.
///
/// A quoted cell may go on over many lines. A stray quote has text behind the closing one, or no closing one within the limit. Then only its own
/// line is given up, and the lines behind it are read again, each on its own. No line is read more than twice.
struct TableRows: LineParser {
    private struct OpenRow {
        let number: Int
        var row: QuotedRow
        var size: Int
        /// The lines behind the first, each with its line break.
        var lines: [UInt8] = []
    }

    private let delimiter: UInt8
    private let options: ListOptions
    private let limit: Int
    private var wanted: WantedColumns?
    private var open: OpenRow?
    private let object: CarriedObject?

    init(delimiter: UInt8, options: ListOptions, limit: Int = ListLimits.row) {
        self.delimiter = delimiter
        self.options = options
        self.limit = limit
        object = CarriedObject(options.carried)
    }

    mutating func take(line number: Int, _ bytes: UnsafeRawBufferPointer, into rows: inout RowBatch) throws {
        guard var row = open else { return try takeAlone(number, bytes, maySpan: true, into: &rows) }
        open = nil
        row.size += bytes.count + 1
        guard row.size <= limit else {
            try giveUp(row, .unclosedQuote, into: &rows)
            return try takeAlone(number, bytes, maySpan: true, into: &rows)
        }
        row.lines.append(contentsOf: bytes)
        row.lines.append(.lineFeed)
        switch row.row.take(bytes) {
        case .open: open = row
        case .complete: try end(row.number, row.row, into: &rows)
        case .malformed: try giveUp(row, .badQuoting, into: &rows)
        }
    }

    mutating func takeOverlong(line number: Int, limit: Int, into rows: inout RowBatch) throws {
        try giveUpOpen(into: &rows)
        try refuse(number, .tooLong(limit: limit), into: &rows)
    }

    mutating func finish(into rows: inout RowBatch) throws { try giveUpOpen(into: &rows) }

    private mutating func takeAlone(
        _ number: Int, _ bytes: UnsafeRawBufferPointer, maySpan: Bool, into rows: inout RowBatch
    ) throws {
        if bytes.isEmpty { return }
        if let wanted, bytes.firstOffset(of: .quote) == nil { return takePlain(number, bytes, wanted, into: &rows) }
        var row = QuotedRow(delimiter: delimiter, wanted: wanted)
        switch row.take(bytes) {
        case .complete: try end(number, row, into: &rows)
        case .malformed: try refuse(number, .badQuoting, into: &rows)
        case .open where maySpan: open = OpenRow(number: number, row: row, size: bytes.count)
        case .open: try refuse(number, .unclosedQuote, into: &rows)
        }
    }

    /// Nearly every row of nearly every table: nothing in it is quoted.
    private func takePlain(_ number: Int, _ bytes: UnsafeRawBufferPointer, _ wanted: WantedColumns, into rows: inout RowBatch) {
        var (url, id): (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?)
        var carried: [[UInt8]?] = object == nil ? [] : Array(repeating: nil, count: wanted.carried.count)
        var rest = bytes
        for column in 0...wanted.last {
            let end = rest.firstOffset(of: delimiter)
            let cell = rest.part(0, end ?? rest.count)
            if column == wanted.url { url = cell }
            if column == wanted.id { id = cell }
            for index in carried.indices where wanted.carried[index] == column { carried[index] = Array(cell) }
            guard let end else { break }
            rest = rest.part(end + 1, rest.count)
        }
        add(number, url, id, carried, into: &rows)
    }

    private mutating func end(_ number: Int, _ row: QuotedRow, into rows: inout RowBatch) throws {
        guard wanted != nil else {
            wanted = try WantedColumns(header: row.cells, options: options)
            return
        }
        (row.url ?? []).withUnsafeBytes { url in
            (row.id ?? []).withUnsafeBytes { id in
                add(number, row.url == nil ? nil : url, row.id == nil ? nil : id, row.carried, into: &rows)
            }
        }
    }

    private func add(
        _ number: Int, _ url: UnsafeRawBufferPointer?, _ id: UnsafeRawBufferPointer?, _ carried: [[UInt8]?], into rows: inout RowBatch
    ) {
        // An empty cell says that there is no id.
        let id = id.flatMap { $0.isEmpty ? nil : $0 }
        let values = object?.object(ofCells: carried)
        if let url {
            rows.append(number, url: url.trimmed, id: id, carried: values)
        } else {
            rows.refuse(number, .noColumn, id: id, carried: values)
        }
    }

    private func refuse(_ number: Int, _ problem: RowProblem, into rows: inout RowBatch) throws {
        guard wanted != nil else { throw ListError.badHeader(problem) }
        rows.refuse(number, problem)
    }

    private mutating func giveUpOpen(into rows: inout RowBatch) throws {
        guard let row = open else { return }
        open = nil
        try giveUp(row, .unclosedQuote, into: &rows)
    }

    private mutating func giveUp(_ row: OpenRow, _ problem: RowProblem, into rows: inout RowBatch) throws {
        try refuse(row.number, problem, into: &rows)
        var number = row.number
        try row.lines.withUnsafeBytes { bytes in
            var rest = bytes
            while let end = rest.firstOffset(of: .lineFeed) {
                number += 1
                try takeAlone(number, rest.part(0, end), maySpan: false, into: &rows)
                rest = rest.part(end + 1, rest.count)
            }
        }
    }
}

/// The columns of a table that are read.
struct WantedColumns {
    let url: Int
    let id: Int?
    let carried: [Int]

    /// A table of more columns is not a list.
    static let limit = 4096

    init(header: [[UInt8]], options: ListOptions) throws {
        guard header.count <= Self.limit else { throw ListError.tooManyColumns(limit: Self.limit) }
        let names = header.map { cell in cell.withUnsafeBytes { String(decoding: $0.trimmed, as: UTF8.self) } }
        func index(of name: String?) throws -> Int {
            guard let index = ColumnNames.index(of: name, in: names) else { throw ListError.noSuchColumn(name, columns: names) }
            return index
        }
        url = try index(of: options.column)
        id = try options.idColumn.map(index)
        carried = try options.carried.map { try index(of: $0.path) }
        last = carried.reduce(max(url, id ?? 0), max)
    }

    let last: Int
}

/// The usual names of columns of URLs.
package enum ColumnNames {
    /// In the order in which they are looked for; without regard to case, spaces, dashes and underscores.
    package static let usual = ["url", "uri", "imageurl", "imgurl", "link", "href", "src"]

    static func isUsual(_ name: some Sequence<UInt8>) -> Bool { usual.contains(simplified(name)) }

    /// The column of that name, else of that name in another case; without a name the first usual one.
    static func index(of name: String?, in columns: [String]) -> Int? {
        guard let name else {
            let simple = columns.map { simplified($0.utf8) }
            return usual.lazy.compactMap { simple.firstIndex(of: $0) }.first
        }
        return columns.firstIndex(of: name) ?? columns.firstIndex { $0.lowercased() == name.lowercased() }
    }

    private static func simplified(_ name: some Sequence<UInt8>) -> String {
        let ignored: [UInt8] = Array(" \r\t_-\"".utf8)
        return String(decoding: name.filter { !ignored.contains($0) }, as: UTF8.self).lowercased()
    }
}
