import Foundation
import GannetBase
import GannetTestKit
import Synchronization
import Testing

@testable import GannetHTTP
@testable import Results

/// A folder and what tests ask of it.
struct ArchiveFixture {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Ids count up from 1, and the clock stands still, so equal exchanges make equal files.
    /// - Parameter onID: Called with each number of an id.
    func writer(size: Int = 1 << 30, indexSize: Int = 1 << 20, onID: @escaping @Sendable (Int) -> Void = { _ in }) -> WARCWriter {
        let ids = Counter()
        return WARCWriter(
            folder: folder.path, prefix: "t", size: size, indexSize: indexSize, now: { Self.date(0) },
            makeID: {
                let number = ids.next()
                onID(number)
                return Self.id(number)
            })
    }

    static func id(_ number: Int) -> UUID {
        let digits = String(number)
        return UUID(uuidString: "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits)!
    }

    static func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: 1_767_225_600 + Double(seconds)) }

    static func exchange(
        _ number: Int, body: [UInt8]? = nil, head: String = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    ) -> WARCExchange {
        var exchange = WARCExchange(
            url: "http://example.com/\(number)", date: date(number), responseHead: Array(head.utf8),
            body: .bytes(body ?? Array("body \(number)".utf8)))
        exchange.requestHead = Array("GET /\(number) HTTP/1.1\r\nHost: example.com\r\nCookie: secret\r\n\r\n".utf8)
        return exchange
    }

    static func digest(_ bytes: [UInt8]) -> [UInt8] { SHA256Digest(of: bytes).bytes }

    /// All names, sorted.
    var names: [String] { get throws { try folder.files.sorted() } }
    var archives: [String] { get throws { try names.filter { $0.hasSuffix(".warc.gz") } } }

    func records(_ name: String) throws -> [ReadRecord] { try ReadRecord.all(in: contents(ofFile: folder.file(name))) }

    /// The types of the records of all files, open ones too, without requests.
    var types: [[String]] {
        get throws {
            try names.filter { $0.contains(".warc.gz") }.map { name in
                try records(name).map(\.type).filter { $0 != "warcinfo" && $0 != "request" }
            }
        }
    }

    func index(_ archive: String) throws -> [String] {
        let bytes = try contents(ofFile: folder.file(archive.dropLast(".warc.gz".count) + ".cdxj"))
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

private final class Counter: Sendable {
    private let count = Atomic(0)
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

/// A record that zlib has unpacked, by code that the module does not use.
struct ReadRecord {
    let offset: Int
    let length: Int
    let fields: [(name: String, value: String)]
    let block: [UInt8]

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
    var type: String { self["WARC-Type"] ?? "" }
    var text: String { String(decoding: block, as: UTF8.self) }
    /// Behind the head of HTTP.
    var payload: [UInt8] {
        let end = Array("\r\n\r\n".utf8)
        let start = block.indices.first { block[$0...].starts(with: end) }
        return start.map { Array(block[($0 + 4)...]) } ?? []
    }

    static func all(in bytes: [UInt8]) throws -> [ReadRecord] {
        let inflate = try #require(Inflate(.gzip))
        var room = [UInt8](repeating: 0, count: 8 << 20)
        var records: [ReadRecord] = []
        try bytes.withUnsafeBytes { all in
            var rest = all
            while !rest.isEmpty {
                inflate.restart()
                let before = rest.count
                let (count, outcome) = room.withUnsafeMutableBytes { inflate.advance(&rest, into: $0) }
                try #require(outcome == .ended)
                let record = Array(room[..<count])
                let head = String(decoding: record, as: UTF8.self).components(separatedBy: "\r\n\r\n")[0]
                let lines = head.components(separatedBy: "\r\n")
                #expect(lines[0] == "WARC/1.1")
                let fields = lines.dropFirst().map { line in
                    let parts = line.components(separatedBy: ": ")
                    return (name: parts[0], value: parts.dropFirst().joined(separator: ": "))
                }
                let start = head.utf8.count + 4
                let length = try #require(fields.first { $0.name == "Content-Length" }.flatMap { Int($0.value) })
                #expect(record.count == start + length + 4)
                #expect(record.suffix(4) == Array("\r\n\r\n".utf8)[...])
                records.append(
                    ReadRecord(
                        offset: all.count - before, length: before - rest.count, fields: fields,
                        block: Array(record[start..<start + length])))
            }
        }
        return records
    }
}
