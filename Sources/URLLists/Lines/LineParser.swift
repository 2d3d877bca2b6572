/// What makes rows of lines.
protocol LineParser {
    /// The bytes are without line break.
    mutating func take(line number: Int, _ bytes: UnsafeRawBufferPointer, into rows: inout RowBatch) throws(ListError)
    /// A line that is too long to be looked at.
    mutating func takeOverlong(line number: Int, limit: Int, into rows: inout RowBatch) throws(ListError)
    mutating func finish(into rows: inout RowBatch) throws(ListError)
}
