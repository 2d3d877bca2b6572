/// What a list turned out to be, with all that its parser has to know.
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

    /// An option that could only be passed over is an error: its user is sure that the list is another.
    func check(_ options: ListOptions) throws(ListError) {
        let given: [(ListError.Option, Bool, Set<ListFormat>)] = [
            (.column, options.column != nil, [.csv, .tsv]),
            (.idColumn, options.idColumn != nil, [.csv, .tsv, .jsonl]),
            (.field, options.field != nil, [.jsonl]),
        ]
        for (option, isGiven, formats) in given where isGiven && !formats.contains(format) {
            throw .optionDoesNotApply(option, format)
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
