/// A row in which there are quotes, taken line by line: RFC 4180's rules, with any delimiter.
struct QuotedRow {
    enum End {
        case complete
        /// In the middle of a quoted cell: the next line belongs to it.
        case open
        case malformed
    }

    private enum State {
        case cellStart, plain, quoted, closed
    }

    private let delimiter: UInt8
    /// Of each column: whether its cell is kept. A header's all are.
    private let wanted: WantedColumns?
    private var state = State.cellStart
    private var column = 0

    /// The cells of a header, with those beyond the limit left out but for the first.
    private(set) var cells: [[UInt8]] = []
    private(set) var url: [UInt8]?
    private(set) var id: [UInt8]?
    /// The cells of the columns that are carried.
    private(set) var carried: [[UInt8]?]

    init(delimiter: UInt8, wanted: WantedColumns?) {
        self.delimiter = delimiter
        self.wanted = wanted
        carried = Array(repeating: nil, count: wanted?.carried.count ?? 0)
        beginCell()
    }

    mutating func take(_ line: UnsafeRawBufferPointer) -> End {
        if state == .quoted { keep([.lineFeed]) }
        var rest = line
        while let first = rest.first {
            switch state {
            case .cellStart:
                state = first == .quote ? .quoted : .plain
                if first == .quote { rest = rest.part(1, rest.count) }
            case .plain:
                let end = rest.firstOffset(of: delimiter)
                keep(rest.part(0, end ?? rest.count))
                rest = rest.part(end.map { $0 + 1 } ?? rest.count, rest.count)
                if end != nil { endCell() }
            case .quoted: takeQuoted(&rest)
            case .closed:
                if first == delimiter { endCell() } else if !first.isBlank { return .malformed }
                rest = rest.part(1, rest.count)
            }
        }
        return state == .quoted ? .open : .complete
    }

    private mutating func takeQuoted(_ rest: inout UnsafeRawBufferPointer) {
        guard let end = rest.firstOffset(of: .quote) else {
            keep(rest)
            rest = rest.part(rest.count, rest.count)
            return
        }
        let isDoubled = end + 1 < rest.count && rest[end + 1] == .quote
        // A doubled quote stands for one.
        keep(rest.part(0, isDoubled ? end + 1 : end))
        if !isDoubled { state = .closed }
        rest = rest.part(end + (isDoubled ? 2 : 1), rest.count)
    }

    private mutating func endCell() {
        column += 1
        state = .cellStart
        beginCell()
    }

    private mutating func beginCell() {
        if let wanted {
            if column == wanted.url { url = [] }
            if column == wanted.id { id = [] }
            for (index, one) in wanted.carried.enumerated() where one == column { carried[index] = [] }
        } else if column <= WantedColumns.limit {
            cells.append([])
        }
    }

    private mutating func keep(_ bytes: some Collection<UInt8>) {
        if let wanted {
            if column == wanted.url { url?.append(contentsOf: bytes) }
            if column == wanted.id { id?.append(contentsOf: bytes) }
            for (index, one) in wanted.carried.enumerated() where one == column { carried[index]?.append(contentsOf: bytes) }
        } else if column <= WantedColumns.limit {
            cells[column].append(contentsOf: bytes)
        }
    }
}
