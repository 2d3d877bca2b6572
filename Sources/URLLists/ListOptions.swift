/// How a list is to be read. Whatever is not said is told by the list's first bytes.
package struct ListOptions: Sendable, Equatable {
    package var format: ListFormat?
    /// The column of a table that holds the URLs; without it the first of ``ColumnNames/usual``.
    package var column: String?
    /// The column of a table, or the field of JSON lines, that holds what the list calls its entries.
    package var idColumn: String?
    /// The field of JSON lines that holds the URLs, `url` without it; `image.url` is the field `url` of the object in `image`.
    package var field: String?

    package init() {}
}
