internal import GannetBase

/// Where a packed body lies, as journals and manifests have it. The paths of bodies' own files have no `@`, and no folder of theirs has a shard's name.
package enum PackedPlace: Sendable, Equatable {
    /// An answer or a body in an archive: `NAME.warc.gz@OFFSET`.
    case record(file: String, offset: Int)
    /// The body of a sample in a shard: `00012.tar/3fa94c….jpg`.
    case sample(file: String, name: String)

    /// Nil for the path of a body's own file.
    init?(_ text: String) {
        if let at = text.lastIndex(of: "@"), text[..<at].hasSuffix(WARCFile.ending), let offset = Int(text[text.index(after: at)...]),
            offset >= 0
        {
            self = .record(file: String(text[..<at]), offset: offset)
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, ShardWriter.number(ofFile: parts[0])?.isOpen == false, !parts[1].isEmpty else { return nil }
        self = .sample(file: parts[0], name: parts[1])
    }

    var text: String {
        switch self {
        case .record(let file, let offset): "\(file)@\(offset)"
        case .sample(let file, let name): "\(file)/\(name)"
        }
    }

    /// The archive or the shard.
    var file: String {
        switch self {
        case .record(let file, _), .sample(let file, _): file
        }
    }

    /// Whether a record of an archive begins at the place: it is a gzip member of its own. Whether a shard ends as a tar file does, with zeros: a copy that
    /// was cut short does not. Complete files are never changed, so their other bytes are not read.
    func isThere(in folder: String) -> Bool {
        guard let opened = try? OpenedFile("\(folder)/\(file)", O_RDONLY), let size = try? opened.size else { return false }
        func bytes(_ count: Int, at place: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 1, count: count)
            let found = bytes.withUnsafeMutableBytes { Descriptor.read(into: $0, from: opened.descriptor, at: place) } ?? 0
            return Array(bytes[..<found])
        }
        switch self {
        case .record(_, let offset): return size > offset && bytes(2, at: offset) == [0x1f, 0x8b]
        case .sample: return size > 1024 && bytes(1024, at: size - 1024) == [UInt8](repeating: 0, count: 1024)
        }
    }

    /// The time since an archive was begun, which its name says. All of its records are younger. Nil for another name, and for a shard.
    var age: Duration? {
        guard case .record(let file, _) = self else { return nil }
        let digits = file.dropLast(WARCFile.ending.count).split(separator: "-").dropLast().last.map(String.init) ?? ""
        guard digits.utf8.count == 14, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        func number(_ range: Range<Int>) -> Int32 {
            Int32(digits.utf8.dropFirst(range.lowerBound).prefix(range.count).reduce(0) { $0 * 10 + Int($1) - 0x30 })
        }
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (number(0..<4) - 1900, number(4..<6) - 1, number(6..<8))
        (fields.tm_hour, fields.tm_min, fields.tm_sec) = (number(8..<10), number(10..<12), number(12..<14))
        return .seconds(time(nil) - timegm(&fields))
    }
}
