/// Where an entry of a bounded folder lies: `ab/cd…`, hexadecimal, with an end that says of which kind it is.
///
/// The first byte is the folder, so that a million entries are four thousand to a folder, and any of the 256 says something about all:
/// ids are evenly distributed, as digests are.
struct EntryName: Sendable, Hashable {
    let shard: UInt8
    let file: String

    /// - Parameter kind: What the name ends in, such as `.record`; empty for a name of digits alone.
    init(_ id: [UInt8], kind: String) {
        shard = id[0]
        file = id.dropFirst().map(Self.digits).joined() + kind
    }

    /// An entry that was found in a shard; nil when it is none of this kind.
    init?(file: String, shard: UInt8, kind: String) {
        let digits = file.utf8.dropLast(kind.utf8.count)
        guard file.hasSuffix(kind), (30...126).contains(digits.count), digits.count.isMultiple(of: 2), digits.allSatisfy(Self.isDigit)
        else { return nil }
        self.shard = shard
        self.file = file
    }

    var folder: String { Self.folder(shard) }

    static func folder(_ shard: UInt8) -> String { digits(shard) }

    private static func digits(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
