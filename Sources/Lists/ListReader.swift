/// A list's bytes in, its rows out, in memory that does not grow with the list. The first bytes tell its format.
///
/// Both functions throw a ``ListError``.
package final class ListReader {
    private let options: ListOptions
    private var gunzip: GunzipStream?
    private var hasBegun = false
    /// The unpacked bytes up to the decision on the format.
    private var head: [UInt8] = []
    private var parser: (any RowParser)?

    package init(_ options: ListOptions) { self.options = options }

    /// Takes from `chunk` as much as one batch has room for. True means that rows of this chunk are left: call again before the next chunk. A few
    /// compressed bytes may be a thousand times as many when they are unpacked.
    package func read(_ chunk: inout UnsafeRawBufferPointer, into rows: inout RowBatch) throws -> Bool {
        if !hasBegun, let first = chunk.first {
            hasBegun = true
            if first == GunzipStream.firstByte {
                guard options.unpacks else { throw ListError.packed }
                gunzip = try GunzipStream()
            }
        }
        guard let gunzip else {
            try take(chunk, into: &rows)
            chunk = chunk.part(chunk.count, chunk.count)
            return false
        }
        try take(try gunzip.unpack(&chunk), into: &rows)
        return !chunk.isEmpty
    }

    /// The list is at its end.
    package func finish(into rows: inout RowBatch) throws {
        // The last row of a list that was cut is not whole.
        try gunzip?.finish()
        if parser == nil { try begin(isWhole: true, into: &rows) }
        try parser?.finish(into: &rows)
    }

    private func take(_ bytes: UnsafeRawBufferPointer, into rows: inout RowBatch) throws {
        if parser == nil {
            head.append(contentsOf: bytes)
            try begin(isWhole: false, into: &rows)
        } else {
            try parser?.take(bytes, into: &rows)
        }
    }

    /// Recognizes the list, if its head is enough for that.
    private func begin(isWhole: Bool, into rows: inout RowBatch) throws {
        let recognition = ListRecognition(head: head, isWhole: isWhole, options: options)
        guard let kind = try recognition.kind() else { return }
        try kind.check(options)
        var parser = kind.parser(options)
        let bytes = head
        head = []
        defer { self.parser = parser }
        try bytes.withUnsafeBytes { try parser.take($0.part(recognition.markLength, $0.count), into: &rows) }
    }
}
