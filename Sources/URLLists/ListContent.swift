/// A list's bytes as they are when nothing is packed: recognised, then read.
struct ListContent {
    private let options: ListOptions
    /// What came before it was clear what it is.
    private var head: [UInt8] = []
    private var parser: (any RowParser)?

    init(_ options: ListOptions) { self.options = options }

    mutating func take(_ bytes: UnsafeRawBufferPointer, into rows: inout RowBatch) throws(ListError) {
        if parser == nil {
            head.append(contentsOf: bytes)
            try begin(isWhole: false, into: &rows)
        } else {
            try parser?.take(bytes, into: &rows)
        }
    }

    mutating func finish(into rows: inout RowBatch) throws(ListError) {
        if parser == nil { try begin(isWhole: true, into: &rows) }
        try parser?.finish(into: &rows)
    }

    private mutating func begin(isWhole: Bool, into rows: inout RowBatch) throws(ListError) {
        let recognition = ListRecognition(head: head, isWhole: isWhole, options: options)
        guard let kind = try recognition.kind() else { return }
        try kind.check(options)
        var parser = kind.parser(options)
        let bytes = head
        head = []
        let skipped = recognition.markLength
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(ListError) in try parser.take(bytes.part(skipped, bytes.count), into: &rows) }
        }
        self.parser = parser
        try result.get()
    }
}
