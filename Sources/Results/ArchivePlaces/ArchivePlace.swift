internal import GannetBase

/// Where the record of an answer lies: `NAME.warc.gz@OFFSET`, as journals and manifests have it. Names of bodies have no `@`.
struct ArchivePlace: Sendable, Equatable {
    let file: String
    let offset: Int

    private static let mark = ".warc.gz@"
    /// A record is a gzip member of its own.
    private static let memberStart: [UInt8] = [0x1f, 0x8b]

    init(file: String, offset: Int) {
        self.file = file
        self.offset = offset
    }

    /// Nil for the path of a body's own file.
    init?(_ text: String) {
        guard let at = text.lastIndex(of: "@"), text[...at].hasSuffix(Self.mark), let offset = Int(text[text.index(after: at)...]),
            offset >= 0
        else { return nil }
        file = String(text[..<at])
        self.offset = offset
    }

    var text: String { "\(file)@\(offset)" }

    /// Whether the archive is there, and a record begins at the place. A complete archive is never changed, so its bytes are not read.
    func isThere(in folder: String) -> Bool {
        let path = "\(folder)/\(file)"
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > offset else { return false }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: Self.memberStart.count)
        let count = start.withUnsafeMutableBytes { Descriptor.read(into: $0, from: descriptor, at: offset) }
        return count == start.count && start == Self.memberStart
    }

    /// The time since the archive was begun, which its name says. All of its records are younger. Nil for a name of another kind.
    var age: Duration? {
        let digits = file.dropLast(".warc.gz".count).split(separator: "-").dropLast().last.map(String.init) ?? ""
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
