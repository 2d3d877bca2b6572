/// Which of a table's columns are looked at.
struct WantedColumns {
    let url: Int
    let id: Int?

    /// A table of more columns is something else.
    static let limit = 4096

    init(header: [[UInt8]], options: ListOptions) throws(ListError) {
        guard header.count <= Self.limit else { throw .tooManyColumns(limit: Self.limit) }
        let names = header.map { cell in cell.withUnsafeBytes { String(decoding: $0.trimmed, as: UTF8.self) } }
        guard let url = ColumnNames.index(of: options.column, in: names) else { throw .noSuchColumn(options.column, columns: names) }
        self.url = url
        guard let name = options.idColumn else {
            id = nil
            return
        }
        guard let id = ColumnNames.index(of: name, in: names) else { throw .noSuchColumn(name, columns: names) }
        self.id = id
    }

    var last: Int { max(url, id ?? 0) }
}
