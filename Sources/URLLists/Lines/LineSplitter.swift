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

    mutating func take(_ chunk: UnsafeRawBufferPointer, into rows: inout RowBatch) throws(ListError) {
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

    mutating func finish(into rows: inout RowBatch) throws(ListError) {
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

    private mutating func endHeld(into rows: inout RowBatch) throws(ListError) {
        if isOverlong {
            isOverlong = false
            number += 1
            try parser.takeOverlong(line: number, limit: limit, into: &rows)
            return
        }
        let line = held
        held = []
        // Typed errors do not pass through the closure.
        let result = line.withUnsafeBytes { bytes in
            Result { () throws(ListError) in try end(bytes, into: &rows) }
        }
        try result.get()
    }

    private mutating func end(_ bytes: UnsafeRawBufferPointer, into rows: inout RowBatch) throws(ListError) {
        number += 1
        let line = bytes.last == .carriageReturn ? bytes.part(0, bytes.count - 1) : bytes
        if line.count > limit {
            try parser.takeOverlong(line: number, limit: limit, into: &rows)
        } else {
            try parser.take(line: number, line, into: &rows)
        }
    }
}
