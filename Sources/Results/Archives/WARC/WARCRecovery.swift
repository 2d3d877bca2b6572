internal import GannetBase
internal import GannetHTTP

/// A file that a killed run has left, after its recovery.
package struct RecoveredFile: Sendable, Hashable {
    /// Its name when it is complete. A file without captures is removed.
    package let name: String
    /// Responses, revisits and resources.
    package let captures: Int
    /// The bytes behind the last whole record. They are gone.
    package let bytesCut: Int
    package let isRemoved: Bool
}

extension WARCWriter {
    /// Cuts each file that earlier runs have left open back to its last whole record, indexes it and completes it.
    ///
    /// A run calls this before it makes its writer. Files of other prefixes, and a file that another process is writing, stay as they are.
    package static func recover(_ folder: String, prefix: String) throws -> [RecoveredFile] {
        try ArchiveFolder.names(in: folder).compactMap { name in
            guard ArchiveFolder.middle(of: name, from: prefix + "-", to: WARCFile.ending + ArchiveFolder.open) != nil else { return nil }
            return try recover(folder, name: String(name.dropLast(ArchiveFolder.open.count)))
        }
    }

    // A file's index is far smaller: it is completed where its index has 32 MiB.
    private static let largestIndex = 512 << 20

    private static func recover(_ folder: String, name: String) throws -> RecoveredFile? {
        guard var file = try WARCFile(recoveringIn: folder, name: name) else { return nil }
        guard fileStatus("\(folder)/\(name)") == nil else {
            throw StorageFailure.foreign("\(folder)/\(name)", "is there beside an unfinished file of its name. Move one of them elsewhere.")
        }
        let size = file.size
        let scanner = try RecordScanner(file.file, size: size)
        var end = 0
        while let record = try scanner.next() {
            end = record.offset + record.length
            if let capture = record.capture { file.add(capture, offset: record.offset, length: record.length) }
            guard file.index.size <= largestIndex else {
                throw StorageFailure.foreign(file.file.path, "has more records than this program writes into a file. Move it elsewhere.")
            }
        }
        let captures = file.index.count
        if captures == 0 {
            try file.remove()
        } else {
            if end < size { try file.cut(to: end) }
            try file.complete()
        }
        return RecoveredFile(name: name, captures: captures, bytesCut: size - end, isRemoved: captures == 0)
    }
}

/// Reads a file member by member, and stops at the first that is not a whole record. It trusts no byte: a killed run, a full disk or a loss of power
/// may have left anything. Its memory does not depend on the file.
final class RecordScanner {
    private let file: OpenedFile
    private let size: Int
    private let inflate: Inflate
    private var input = [UInt8](repeating: 0, count: 128 << 10)
    private var held = 0..<0
    private var inputEnd = 0
    private var output = [UInt8](repeating: 0, count: 64 << 10)

    /// A record's head and the head of HTTP in it are never longer together: the writer refuses longer ones.
    static let longestBeginning = HTTPHead.longest + 2 * WARCRecord.longestURL + (64 << 10)

    init(_ file: OpenedFile, size: Int) throws {
        self.file = file
        self.size = size
        guard let inflate = Inflate(.gzip) else { throw StorageFailure("There is no memory for a decompressor.") }
        self.inflate = inflate
    }

    /// The next record, or nil where the file ends or is damaged.
    func next() throws -> (offset: Int, length: Int, capture: Capture?)? {
        let offset = inputEnd - held.count
        guard let member = try unpack(), let record = RecordBeginning(member.beginning, count: member.count, end: member.end) else {
            return nil
        }
        return (offset, inputEnd - held.count - offset, record.capture)
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
                    throw StorageFailure.ofArchive("read", file.path)
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
            case .outOfMemory: throw StorageFailure("There is no memory for a decompressor.")
            }
        }
    }
}

/// The head of a record, read back. Nil when the bytes are no record, or have another length than their head says.
struct RecordBeginning {
    let capture: Capture?

    init?(_ bytes: [UInt8], count: Int, end: [UInt8]) {
        guard bytes.starts(with: WARCRecord.version), end == WARCRecord.end, let (fields, block) = Self.fields(bytes[...]) else {
            return nil
        }
        guard let type = fields["warc-type"], let length = fields["content-length"].flatMap({ Int($0) }), length >= 0,
            fields["warc-record-id"] != nil, length == count - WARCRecord.end.count - block.startIndex, block.count >= min(length, 1)
        else { return nil }
        let timestamp = WARCRecord.timestamp(fields["warc-date"] ?? "")
        guard ["response", "revisit", "resource"].contains(type), let url = fields["warc-target-uri"], timestamp.utf8.count == 14 else {
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
        guard (try? WARCRecord.url(url)) != nil else { return nil }
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
}
