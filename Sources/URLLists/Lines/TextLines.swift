/// One URL a line. Blank lines and those that begin with `#` are no rows.
struct TextLines: LineParser {
    func take(line number: Int, _ bytes: UnsafeRawBufferPointer, into rows: inout RowBatch) {
        let line = bytes.trimmed
        guard let first = line.first, first != UInt8(ascii: "#") else { return }
        rows.append(number, url: line)
    }

    func takeOverlong(line number: Int, limit: Int, into rows: inout RowBatch) { rows.refuse(number, .tooLong(limit: limit)) }

    func finish(into rows: inout RowBatch) {}
}
