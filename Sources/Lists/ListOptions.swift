/// How a list is to be read. Without a format, the list's first bytes tell it.
package struct ListOptions: Sendable, Equatable {
    package var format: ListFormat?
    /// The column of a table that holds the URLs; without it the first of ``ColumnNames/usual``.
    package var column: String?
    /// The column of a table, or the field of JSON lines, that holds the names of the rows.
    package var idColumn: String?
    /// The field of JSON lines that holds the URLs, `url` without it; `image.url` is the field `url` of the object in `image`.
    package var field: String?
    /// The columns of a table, or the fields of JSON lines, whose values the rows carry.
    package var carried: [CarriedColumn] = []
    /// Whether a list that gzip has packed is read. A few of its bytes may become a thousand times as many.
    package var unpacks = true

    package init() {}
}

/// The notation of a list.
package enum ListFormat: String, Sendable, CaseIterable {
    /// One URL a line; `#` begins a comment.
    case text
    /// Cells with commas (or semicolons) between them, under a header.
    case csv
    /// The same with tabs.
    case tsv
    /// One JSON object a line.
    case jsonl
    case sitemap
    /// A table of columns, which is read by another program. Here it is refused.
    case parquet
}
