/// A list's bytes in, its rows out, in memory that does not grow with the list. What it is, it is told by the first bytes.
package final class ListReader {
    private var content: ListContent
    private var gunzip: GunzipStream?
    private var hasBegun = false

    package init(_ options: ListOptions) { content = ListContent(options) }

    /// Takes from `chunk` what one batch has room for, and answers whether there is more to come of it: then it wants to be called again before
    /// it is given another. What has been unpacked from a few bytes may be a thousand times as much.
    package func read(_ chunk: inout UnsafeRawBufferPointer, into rows: inout RowBatch) throws(ListError) -> Bool {
        if !hasBegun, let first = chunk.first {
            hasBegun = true
            if first == GunzipStream.firstByte { gunzip = try GunzipStream() }
        }
        guard let gunzip else {
            try content.take(chunk, into: &rows)
            chunk = chunk.part(chunk.count, chunk.count)
            return false
        }
        try content.take(try gunzip.unpack(&chunk), into: &rows)
        return !chunk.isEmpty
    }

    /// The list is at its end.
    package func finish(into rows: inout RowBatch) throws(ListError) {
        // Rows that end where the rest is missing are not whole.
        try gunzip?.finish()
        try content.finish(into: &rows)
    }
}
