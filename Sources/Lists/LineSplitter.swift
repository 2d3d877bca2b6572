/// Chunks in, lines out: at most one line is held back, and never more of it than the limit.
struct LineSplitter<Parser: LineParser>: RowParser {
    private var parser: Parser
    private let limit: Int
    private var number = 0
    private var held: [UInt8] = []
    private var isOverlong = false

    init(_ parser: Parser, limit: Int = ListLimits.row) {
        self.parser = parser
        self.limit = limit
    }

    mutating func take(_ chunk: UnsafeRawBufferPointer, into rows: inout RowBatch) throws {
        var rest = chunk
        while !rest.isEmpty {
            guard let length = rest.firstOffset(of: .lineFeed) else {
                hold(rest)
                return
            }
            let line = rest.part(0, length)
            if held.isEmpty, !isOverlong {
                try end(line, into: &rows)
            } else {
                hold(line)
                try endHeld(into: &rows)
            }
            rest = rest.part(length + 1, rest.count)
        }
    }

    mutating func finish(into rows: inout RowBatch) throws {
        // The last line need not end with a line break.
        if !held.isEmpty || isOverlong { try endHeld(into: &rows) }
        try parser.finish(into: &rows)
    }

    /// One byte more than the limit is kept, for a carriage return that will be dropped.
    private mutating func hold(_ bytes: UnsafeRawBufferPointer) {
        guard !isOverlong else { return }
        if held.count + bytes.count > limit + 1 {
            isOverlong = true
            held = []
        } else {
            held.append(contentsOf: bytes)
        }
    }

    private mutating func endHeld(into rows: inout RowBatch) throws {
        if isOverlong {
            isOverlong = false
            number += 1
            try parser.takeOverlong(line: number, limit: limit, into: &rows)
            return
        }
        let line = held
        held = []
        try line.withUnsafeBytes { try end($0, into: &rows) }
    }

    private mutating func end(_ bytes: UnsafeRawBufferPointer, into rows: inout RowBatch) throws {
        number += 1
        let line = bytes.last == .carriageReturn ? bytes.part(0, bytes.count - 1) : bytes
        if line.count > limit {
            try parser.takeOverlong(line: number, limit: limit, into: &rows)
        } else {
            try parser.take(line: number, line, into: &rows)
        }
    }
}

/// Chunks of one kind of list in, rows out, in bounded memory.
protocol RowParser {
    mutating func take(_ chunk: UnsafeRawBufferPointer, into rows: inout RowBatch) throws
    /// The list is at its end.
    mutating func finish(into rows: inout RowBatch) throws
}

enum ListLimits {
    /// The longest line or row that is kept. A longer one is skipped and reported by its number.
    static let row = 1 << 20
}

/// Makes rows of lines.
protocol LineParser {
    /// The bytes are without line break.
    mutating func take(line number: Int, _ bytes: UnsafeRawBufferPointer, into rows: inout RowBatch) throws
    /// A line that is too long to be kept.
    mutating func takeOverlong(line number: Int, limit: Int, into rows: inout RowBatch) throws
    mutating func finish(into rows: inout RowBatch) throws
}

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
