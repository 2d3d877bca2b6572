internal import GannetBase

/// Reads a file member by member, and stops at the first that is not a whole record. It trusts no byte: a killed run, a full disk or a loss of power
/// may have left anything. Its memory does not depend on the file.
final class RecordScanner {
    struct Found {
        let offset: Int
        let length: Int
        let type: String
        let capture: Capture?
    }

    private let file: OpenedFile
    private let size: Int
    private let inflate: Inflate
    private var input = [UInt8](repeating: 0, count: 128 << 10)
    private var held = 0..<0
    private var inputEnd = 0
    private var output = [UInt8](repeating: 0, count: 64 << 10)

    /// A record's head and the head of HTTP in it are never longer together: the writer refuses longer ones.
    static let longestBeginning = HTTPHead.longest + 2 * WARCValue.longestURL + (64 << 10)

    init(_ file: OpenedFile, size: Int) throws {
        self.file = file
        self.size = size
        guard let inflate = Inflate(.gzip) else { throw ArchiveError.ended("There is no memory for a decompressor.") }
        self.inflate = inflate
    }

    /// The next record, or nil where the file ends or is damaged.
    func next() throws -> Found? {
        let offset = inputEnd - held.count
        guard let member = try unpack(), let record = RecordBeginning(member.beginning, count: member.count, end: member.end) else {
            return nil
        }
        return Found(offset: offset, length: inputEnd - held.count - offset, type: record.type, capture: record.capture)
    }

    private func unpack() throws -> (beginning: [UInt8], count: Int, end: [UInt8])? {
        inflate.restart()
        var beginning: [UInt8] = []
        var count = 0
        var end: [UInt8] = []
        while true {
            if held.isEmpty {
                guard inputEnd < size else { return nil }
                guard let found = input.withUnsafeMutableBytes({ Descriptor.read(into: $0, from: file.descriptor, at: inputEnd) }) else {
                    throw ArchiveError.refused("read", file.path)
                }
                if found == 0 { return nil }
                held = 0..<found
                inputEnd += found
            }
            let (used, written, outcome) = input.withUnsafeBytes { bytes in
                output.withUnsafeMutableBytes { room in
                    var rest = UnsafeRawBufferPointer(rebasing: bytes[held])
                    let (written, outcome) = inflate.advance(&rest, into: room)
                    return (held.count - rest.count, written, outcome)
                }
            }
            held = held.lowerBound + used..<held.upperBound
            beginning += output[..<min(written, Self.longestBeginning - beginning.count)]
            count += written
            end = Array((end + output[..<written].suffix(4)).suffix(4))
            switch outcome {
            case .ended: return (beginning, count, end)
            case .more: break
            case .damaged: return nil
            case .outOfMemory: throw ArchiveError.ended("There is no memory for a decompressor.")
            }
        }
    }
}

/// The head of a record, read back. Nil when the bytes are no record, or have another length than their head says.
struct RecordBeginning {
    let type: String
    let capture: Capture?

    init?(_ bytes: [UInt8], count: Int, end: [UInt8]) {
        guard bytes.starts(with: WARCRecord.version), end == WARCRecord.end, let (fields, block) = Self.fields(bytes[...]) else {
            return nil
        }
        guard let type = fields["warc-type"], let length = fields["content-length"].flatMap({ Int($0) }), length >= 0,
            fields["warc-record-id"] != nil, length == count - WARCRecord.end.count - block.startIndex, block.count >= min(length, 1)
        else { return nil }
        self.type = type
        guard ["response", "revisit", "resource"].contains(type), let url = fields["warc-target-uri"],
            let timestamp = Self.timestamp(fields["warc-date"] ?? "")
        else {
            capture = nil
            return
        }
        var (mime, status) = ("warc/revisit", "-")
        if type == "response" {
            let head = try? HTTPHead.response(Self.head(block), bodyCount: nil)
            (mime, status) = (head?.mime ?? "unk", head?.status ?? "-")
        } else if type == "resource" {
            mime = fields["content-type"].map { String($0.prefix { $0 != ";" && $0 != " " }) } ?? "unk"
        }
        // The writer refuses such a URL, and a line of the index has no place for it.
        guard (try? WARCValue.url(url)) != nil else { return nil }
        capture = Capture(url: url, timestamp: timestamp, mime: mime, status: status, digest: fields["warc-payload-digest"])
    }

    /// The lines up to an empty one, and the bytes behind it. Of a repeated field the first counts.
    private static func fields(_ bytes: ArraySlice<UInt8>) -> ([String: String], ArraySlice<UInt8>)? {
        var fields: [String: String] = [:]
        var rest = bytes.dropFirst(WARCRecord.version.count)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            guard end > rest.startIndex, rest[end - 1] == UInt8(ascii: "\r") else { return nil }
            let line = rest[..<(end - 1)]
            rest = rest[(end + 1)...]
            if line.isEmpty { return (fields, rest) }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            let value = String(decoding: line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
            if fields[name] == nil { fields[name] = value }
        }
        return nil
    }

    private static func head(_ block: ArraySlice<UInt8>) -> [UInt8] {
        var lineStart = block.startIndex
        for index in block.indices where block[index] == UInt8(ascii: "\n") {
            if index - lineStart <= 1 { return Array(block[...index]) }
            lineStart = index + 1
        }
        return Array(block)
    }

    /// The first fourteen digits of a date.
    private static func timestamp(_ date: String) -> String? {
        let digits = date.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.prefix(14)
        return digits.count == 14 ? String(decoding: digits, as: UTF8.self) : nil
    }
}
