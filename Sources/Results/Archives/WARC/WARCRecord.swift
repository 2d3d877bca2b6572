internal import GannetBase

/// A record before it is packed: its head, the beginning of its block, and the rest of the block.
struct WARCRecord: Sendable {
    /// The record's head, and the head of HTTP that its block begins with.
    let beginning: [UInt8]
    let content: ArchiveContent?
    /// The values of the record's line in the index; nil for records that no reader looks up.
    let capture: Capture?

    /// A block ends with these bytes, which do not count as its length.
    static let end = Array("\r\n\r\n".utf8)
    static let version = Array("WARC/1.1\r\n".utf8)

    init(_ fields: [(String, String)], block: [UInt8], content: ArchiveContent? = nil, capture: Capture? = nil) {
        var bytes = Self.version
        for (name, value) in fields { bytes += "\(name): \(value)\r\n".utf8 }
        bytes += "Content-Length: \(block.count + (content?.count ?? 0))\r\n\r\n".utf8
        beginning = bytes + block
        self.content = content
        self.capture = capture
    }

    /// Hands over the packed record a piece at a time.
    func pack(by packer: GzipPacker, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        packer.begin()
        try packer.add(beginning, take)
        try content?.read { try packer.add($0, take) }
        try packer.add(Self.end, take)
        try packer.end(take)
    }

    static func id(_ id: UUID) -> String { "<urn:uuid:\(id.uuidString.lowercased())>" }
}

/// The values of a record's line in an index.
struct Capture: Sendable, Equatable {
    var url: String
    var timestamp: String
    var mime: String
    /// Three digits, or `-`.
    var status: String
    /// With its algorithm, as the record has it; nil when there is none.
    var digest: String?
}

/// The values of fields that come from elsewhere.
enum WARCValue {
    static let longestURL = 64 << 10

    /// A URL that stands in one line and in one word.
    static func url(_ url: String) throws -> String {
        guard url.utf8.count <= longestURL else {
            throw ArchiveError.unfit("A URL of \(url.utf8.count) bytes is longer than the \(longestURL) bytes that a record may have.")
        }
        guard !url.isEmpty, !url.utf8.contains(where: { $0.isControl || $0 == 0x20 }), url.utf8.contains(UInt8(ascii: ":")) else {
            throw ArchiveError.unfit(
                "The URL \(url.debugDescription) cannot stand in a record. Blanks and control characters have to be escaped.")
        }
        return url
    }

    /// A text that stands in one line.
    static func line(_ text: String) throws -> String {
        guard text.utf8.count <= 4096, !text.utf8.contains(where: \.isControl) else {
            throw ArchiveError.unfit("The value \(text.prefix(100).debugDescription) cannot stand in a record.")
        }
        return text
    }

    /// A name that stands before a colon.
    static func token(_ text: String) throws -> String {
        let isPlain = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "-._/:%+".utf8.contains(byte)
            }
        }
        guard !text.isEmpty, text.utf8.count <= 100, text.utf8.allSatisfy(isPlain) else {
            throw ArchiveError.unfit("The value \(text.prefix(100).debugDescription) cannot stand in a record.")
        }
        return text
    }
}
