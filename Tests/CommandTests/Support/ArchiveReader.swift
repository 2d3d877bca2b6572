import Foundation
import GannetBase
import GannetTestKit

/// A record of a WARC file, unpacked.
struct ArchiveRecord {
    let file: String
    let offset: Int
    /// The names in small letters.
    let fields: [String: String]
    /// The head of HTTP and the body; the fields of a `warcinfo` record are all head, and a `resource` has none.
    let head: String
    let body: [UInt8]

    var kind: String { fields["warc-type"] ?? "" }
    var url: String { fields["warc-target-uri"] ?? "" }
    /// As the manifest names the place.
    var place: String { "\(file)@\(offset)" }

    /// All records of the archives in a folder, by their gzip members and in the order of writing.
    static func all(in folder: String) throws -> [ArchiveRecord] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".warc.gz") }.sorted().flatMap { name in
            try members(contents(ofFile: folder + "/" + name)).map { offset, bytes in try ArchiveRecord(name, offset, bytes) }
        }
    }

    private static let blank = Array("\r\n\r\n".utf8)

    private init(_ file: String, _ offset: Int, _ bytes: [UInt8]) throws {
        guard bytes.starts(with: "WARC/1.1\r\n".utf8), let (head, block) = Self.split(bytes[...]) else {
            throw KitError("no record at \(offset) of \(file)")
        }
        var fields: [String: String] = [:]
        for line in head.split(separator: "\r\n").dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        guard block.count == (fields["content-length"].flatMap { Int($0) } ?? -1) + Self.blank.count, block.suffix(4) == Self.blank[...]
        else { throw KitError("the record at \(offset) of \(file) has another length than its head says") }
        (self.file, self.offset, self.fields) = (file, offset, fields)
        let content = block.dropLast(Self.blank.count)
        let whole = fields["warc-type"] == "resource" ? ("", content) : nil
        let (inner, body) = whole ?? Self.split(content) ?? (String(decoding: content, as: UTF8.self), [])
        (self.head, self.body) = (inner, Array(body))
    }

    private static func split(_ bytes: ArraySlice<UInt8>) -> (String, ArraySlice<UInt8>)? {
        var at = bytes.startIndex
        while at + blank.count <= bytes.endIndex {
            if bytes[at..<at + blank.count].elementsEqual(blank) {
                return (String(decoding: bytes[..<at], as: UTF8.self), bytes[(at + 4)...])
            }
            at += 1
        }
        return nil
    }

    private static func members(_ bytes: [UInt8]) throws -> [(Int, [UInt8])] {
        var members: [(Int, [UInt8])] = []
        var offset = 0
        while offset < bytes.count {
            let (member, used) = try unpack(bytes[offset...])
            members.append((offset, member))
            offset += used
        }
        return members
    }

    /// The first member of gzip, and its packed length.
    static func unpack(_ bytes: ArraySlice<UInt8>) throws -> ([UInt8], Int) {
        guard let inflate = Inflate(.gzip) else { throw KitError("no memory for zlib") }
        var room = [UInt8](repeating: 0, count: 256 << 10)
        var result: [UInt8] = []
        return try bytes.withUnsafeBytes { all in
            var rest = all
            while true {
                let before = rest.count
                let (count, outcome) = room.withUnsafeMutableBytes { inflate.advance(&rest, into: $0) }
                result += room[..<count]
                if outcome == .ended { return (result, all.count - rest.count) }
                guard outcome == .more, count > 0 || rest.count < before else { throw KitError("a member of gzip is cut or damaged") }
            }
        }
    }
}
