/// How columns of URLs are usually called.
package enum ColumnNames {
    /// In the order in which they are looked for; without regard to case, spaces, dashes and underscores.
    package static let usual = ["url", "uri", "imageurl", "imgurl", "link", "href", "src"]

    static func isUsual(_ name: some Sequence<UInt8>) -> Bool { usual.contains(simplified(name)) }

    /// Which column is meant: the one of that name, else of that name but for its case; without a name the first usual one.
    static func index(of name: String?, in columns: [String]) -> Int? {
        guard let name else {
            let simple = columns.map { simplified($0.utf8) }
            return usual.lazy.compactMap { simple.firstIndex(of: $0) }.first
        }
        return columns.firstIndex(of: name) ?? columns.firstIndex { $0.lowercased() == name.lowercased() }
    }

    private static func simplified(_ name: some Sequence<UInt8>) -> String {
        let ignored: [UInt8] = Array(" \r\t_-\"".utf8)
        return String(decoding: name.filter { !ignored.contains($0) }, as: UTF8.self).lowercased()
    }
}
