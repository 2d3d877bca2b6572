import Lists

/// A whole list's rows, as a program that reads a file gets them.
enum Listed {
    static func rows(_ text: String, cut size: Int = 7, _ options: ListOptions = ListOptions()) throws -> [Row] {
        try rows(Array(text.utf8), cut: size, options)
    }

    /// Cuts the bytes into chunks of `size`, so that a boundary falls nearly everywhere.
    static func rows(_ bytes: [UInt8], cut size: Int = 7, _ options: ListOptions = ListOptions()) throws -> [Row] {
        let reader = ListReader(options)
        var rows: [Row] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let chunk = Array(bytes[start..<min(start + size, bytes.count)])
            try chunk.withUnsafeBytes { buffer in
                var rest = buffer
                var hasMore = true
                while hasMore {
                    var batch = RowBatch()
                    hasMore = try reader.read(&rest, into: &batch)
                    rows += batch
                }
            }
        }
        var batch = RowBatch()
        try reader.finish(into: &batch)
        return rows + batch
    }
}

extension Row {
    static func url(_ number: Int, _ text: String, id: String? = nil) -> Row {
        Row(.line(number), .url(Array(text.utf8)[...]), id: id.map { Array($0.utf8)[...] })
    }

    static func invalid(_ number: Int, _ problem: RowProblem, id: String? = nil) -> Row {
        Row(.line(number), .invalid(problem), id: id.map { Array($0.utf8)[...] })
    }
}
