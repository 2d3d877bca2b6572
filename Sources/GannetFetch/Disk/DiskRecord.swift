internal import GannetBase
package import GannetHTTP

/// A body, and a small text of bytes that describes it. A file holds one record:
///
/// | bytes | |
/// | --- | --- |
/// | 8 | magic, with the version of the format |
/// | 4 | number of bytes of metadata; little-endian |
/// | 32 | SHA-256 of the key, the magic, the number, the metadata, and the body's SHA-256 |
/// | n | the metadata |
/// | n | the body |
package struct DiskRecord: Sendable, Hashable {
    package var metadata: [UInt8]
    package var body: [UInt8]

    package init(metadata: [UInt8], body: [UInt8]) {
        self.metadata = metadata
        self.body = body
    }

    private static let magic = Array("gannet2\n".utf8)
    /// The bytes before the metadata.
    private static let fixed = 44
    static let mostMetadata = 64 << 10
    /// The most bytes before the body.
    static let mostStart = fixed + mostMetadata

    /// All bytes of the file before the body.
    package func start(of key: CacheKey) -> [UInt8] {
        let head = Self.magic + withUnsafeBytes(of: UInt32(metadata.count).littleEndian) { Array($0) }
        return head + SHA256Digest(of: key.id + head + metadata + SHA256Digest(of: body).bytes).bytes + metadata
    }

    /// Where the body begins in a file with these first bytes; nil for a file of another format, or one that is cut.
    package static func bodyOffset(in start: [UInt8]) -> Int? {
        guard start.count >= fixed, start.starts(with: magic) else { return nil }
        let offset = fixed + start[8..<12].reversed().reduce(0) { $0 << 8 | Int($1) }
        return offset <= start.count ? offset : nil
    }

    /// The record of a file; nil for one that is damaged, or of another key.
    /// - Parameter start: The first bytes of the file, up to the body at least.
    package init?(_ start: [UInt8], body: [UInt8], of key: CacheKey) {
        guard let offset = Self.bodyOffset(in: start) else { return nil }
        self.init(metadata: Array(start[Self.fixed..<offset]), body: body)
        guard start.starts(with: self.start(of: key)) else { return nil }
    }
}

/// The name of a record's file: `ab/cd….record`, with the key in hexadecimal digits.
///
/// The first byte of the key is the subfolder, so a million files are four thousand to a subfolder.
struct EntryName: Sendable, Hashable {
    let shard: UInt8
    let file: String

    private static let ending = ".record"

    init(_ key: CacheKey) {
        shard = key.id[0]
        file = Array(key.id.dropFirst()).hexadecimal + Self.ending
    }

    /// For a file that was found in a subfolder; nil when it is no entry.
    init?(file: String, shard: UInt8) {
        let digits = file.utf8.dropLast(Self.ending.utf8.count)
        guard file.hasSuffix(Self.ending), (30...126).contains(digits.count), digits.count.isMultiple(of: 2),
            digits.allSatisfy(\.isSmallHexadecimalDigit)
        else { return nil }
        self.shard = shard
        self.file = file
    }

    /// The name of the subfolder.
    static func folder(_ shard: UInt8) -> String { [shard].hexadecimal }
}
