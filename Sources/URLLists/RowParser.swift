/// Chunks of one kind of list in, rows out, in memory that does not grow with the list.
protocol RowParser {
    mutating func take(_ chunk: UnsafeRawBufferPointer, into rows: inout RowBatch) throws(ListError)
    /// The list is at its end.
    mutating func finish(into rows: inout RowBatch) throws(ListError)
}

/// What the parsers share.
enum ListLimits {
    /// The longest line or row that is kept; what is longer is skipped and told by its number.
    static let row = 1 << 20
}
