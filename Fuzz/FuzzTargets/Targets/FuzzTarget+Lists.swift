import Lists

extension FuzzTarget {
    /// The input is a byte that says how the list is read, one that says where it is cut, and the list.
    static let lists = FuzzTarget(name: "lists", maximumLength: 4096) {
        [
            "\u{FEFF}http://a/\r\n# no\n\n x\0y \n", "id,url\n\"a\"\"b\",\"http://a/\n\"\n1,http://b/\n,\"x\"y\n", "a\turl\n1\thttp://a/\n",
            "{\"id\":1,\"url\":\"http://a/\\u0061\\ud83d\\ude00\"}\n{\"a\":[{\"url\":1}],\"url\":null}\n",
            "<?xml?><!-- -->\n<urlset a='>'><url><loc>http://a/&amp;&#x41;</loc><loc><![CDATA[b]]]></loc></url></urlset>",
        ].flatMap { text in [0, 1, 2, 3, 4, 5].map { [$0, 3] + Array(text.utf8) } }
    } check: { (input) throws(BrokenInvariant) in
        guard input.count > 2 else { return }
        var options = ListOptions()
        let formats = ListFormat.allCases
        options.format = Int(input[0] & 7) < formats.count ? formats[Int(input[0] & 7)] : nil
        if input[0] & 8 != 0 { options.idColumn = "id" }
        let list = Array(input[2...])
        let whole = read(list, cut: list.count, options)
        let pieces = read(list, cut: Int(input[1] % 61) + 1, options)
        try require(
            (whole.error == nil) == (pieces.error == nil), "\(String(describing: whole.error)) or \(String(describing: pieces.error))")
        guard whole.error == nil else { return }
        try require(whole.rows == pieces.rows, "the rows depend on where the list is cut")
        var last = 0
        for row in whole.rows {
            guard case .line(let number) = row.place else { throw BrokenInvariant(description: "the row \(row.place) is no line") }
            try require(number >= last, "row \(number) comes behind row \(last)")
            last = number
            try require((row.id?.count ?? 0) <= Row.longestID, "an id of \(row.id?.count ?? 0) bytes")
            guard case .url(let url) = row.content else { continue }
            try require(!url.isEmpty && !url.contains(0), "row \(number) has no URL")
        }
    }

    private static func read(_ list: [UInt8], cut size: Int, _ options: ListOptions) -> (rows: [Row], error: ListError?) {
        let reader = ListReader(options)
        var rows: [Row] = []
        do {
            for start in stride(from: 0, to: list.count, by: size) {
                try list[start..<min(start + size, list.count)].withUnsafeBytes { bytes in
                    var rest = bytes
                    var batch = RowBatch()
                    while try reader.read(&rest, into: &batch) {}
                    rows += batch
                }
            }
            var batch = RowBatch()
            try reader.finish(into: &batch)
            return (rows + batch, nil)
        } catch {
            return (rows, error as? ListError)
        }
    }
}
