import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP
@testable import Results

@Suite struct RecoveryTests {
    private static let name = "t-20260101000000-00000.warc.gz"

    /// A complete file of some exchanges, a revisit and a resource.
    private static func complete() throws -> ArchiveFixture {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer()
        for number in 0..<4 { try writer.write(ArchiveFixture.exchange(number, body: number == 3 ? Array("body 0".utf8) : nil)) }
        var alone = WARCExchange(url: "https://h/a", date: ArchiveFixture.date(9), body: .bytes([1, 2]))
        alone.contentType = "text/css"
        try writer.write(alone)
        try writer.close()
        return fixture
    }

    @Test func `a file that was cut anywhere keeps all whole records before the cut, with the same index`() throws {
        let original = try Self.complete()
        let bytes = try contents(ofFile: original.folder.file(Self.name))
        let records = try original.records(Self.name)
        let lines = try original.index(Self.name)
        // Each byte around the ends of records, and some of the others.
        let ends = [0] + records.map { $0.offset + $0.length }
        for count in 0...bytes.count where count % 37 == 0 || ends.contains(where: { abs($0 - count) < 10 }) {
            let fixture = try ArchiveFixture()
            try fixture.folder.write(bytes[..<count], to: Self.name + ".open")
            let whole = records.filter { $0.offset + $0.length <= count }
            let captures = whole.filter { ["response", "revisit", "resource"].contains($0.type) }
            let end = whole.last.map { $0.offset + $0.length } ?? 0
            let recovered = try WARCWriter.recover(fixture.folder.path, prefix: "t")
            #expect(
                recovered == [
                    RecoveredFile(name: Self.name, captures: captures.count, bytesCut: count - end, isRemoved: captures.isEmpty)
                ])
            guard !captures.isEmpty else {
                #expect(try fixture.names.isEmpty)
                continue
            }
            #expect(try fixture.names.count == 2)
            #expect(try contents(ofFile: fixture.folder.file(Self.name)) == Array(bytes[..<end]))
            #expect(
                try fixture.index(Self.name) == lines.filter { line in captures.contains { line.contains("\"offset\": \"\($0.offset)\"") } }
            )
        }
    }

    @Test func `bytes behind the last whole record go, also a member that is no record`() throws {
        let original = try Self.complete()
        let bytes = try contents(ofFile: original.folder.file(Self.name))
        var tails: [[UInt8]] = [[0], [UInt8](repeating: 0, count: 5000), Array("WARC/1.1\r\n".utf8), [0x1f, 0x8b]]
        let id = "WARC-Record-ID: <urn:uuid:x>\r\n"
        for text in [
            "", "WARC/1.1\r\n\r\n\r\n\r\n", "WARC/1.0\r\nWARC-Type: x\r\n\(id)Content-Length: 0\r\n\r\n\r\n\r\n",
            "WARC/1.1\r\nWARC-Type: x\r\n\(id)Content-Length: 1\r\n\r\n\r\n\r\n",
            "WARC/1.1\r\nWARC-Type: x\r\n\(id)Content-Length: -1\r\n\r\n\r\n\r\n",
            "WARC/1.1\r\nWARC-Type: x\r\n\(id)Content-Length: 9223372036854775807\r\n\r\n\r\n\r\n",
            "WARC/1.1\r\nWARC-Type: x\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
            "WARC/1.1\r\nWARC-Type x\r\n\(id)Content-Length: 0\r\n\r\n\r\n\r\n",
            "WARC/1.1\r\nWARC-Type: x\r\n\(id)Content-Length: 0\r\n\r\n\r\n\r",
            "WARC/1.1\r\nWARC-Type: x\r\n\(id)Content-Length: 0\r\n\r\nabcd",
            "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://h/ a\r\n\(id)Content-Length: 0\r\n\r\n\r\n\r\n",
        ] {
            tails.append(Deflated.gzip(Array(text.utf8)))
        }
        for tail in tails {
            let fixture = try ArchiveFixture()
            try fixture.folder.write(bytes + tail, to: Self.name + ".open")
            #expect(try WARCWriter.recover(fixture.folder.path, prefix: "t").first?.bytesCut == tail.count)
            #expect(try contents(ofFile: fixture.folder.file(Self.name)) == bytes)
        }
    }

    @Test func `a turned bit is found, and all before it stays`() throws {
        let original = try Self.complete()
        let bytes = try contents(ofFile: original.folder.file(Self.name))
        let record = try original.records(Self.name)[3]
        // In the middle of a record, and in the checksum and the length at its end.
        for place in [record.length / 2, record.length - 6, record.length - 2] {
            var damaged = bytes
            damaged[record.offset + place] ^= 1
            let fixture = try ArchiveFixture()
            try fixture.folder.write(damaged, to: Self.name + ".open")
            #expect(try WARCWriter.recover(fixture.folder.path, prefix: "t").first?.bytesCut == bytes.count - record.offset)
        }
    }

    @Test func `a run that was killed at each step of a file's end is completed`() throws {
        let original = try Self.complete()
        let bytes = try contents(ofFile: original.folder.file(Self.name))
        let index = try contents(ofFile: original.folder.file("t-20260101000000-00000.cdxj"))
        for step in 0..<3 {
            let fixture = try ArchiveFixture()
            try fixture.folder.write(bytes, to: Self.name + ".open")
            if step == 1 { try fixture.folder.write(index.prefix(100), to: "t-20260101000000-00000.cdxj.open") }
            if step == 2 { try fixture.folder.write(index, to: "t-20260101000000-00000.cdxj") }
            _ = try WARCWriter.recover(fixture.folder.path, prefix: "t")
            #expect(try fixture.names == ["t-20260101000000-00000.cdxj", Self.name])
            #expect(try contents(ofFile: fixture.folder.file(Self.name)) == bytes)
            #expect(try contents(ofFile: fixture.folder.file("t-20260101000000-00000.cdxj")) == index)
            #expect(try WARCWriter.recover(fixture.folder.path, prefix: "t").isEmpty)
        }
    }

    @Test func `a file that is being written, one of another prefix and a link stay as they are`() throws {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer()
        try writer.write(ArchiveFixture.exchange(1))
        try fixture.folder.write([1, 2, 3], to: "other-20260101000000-00000.warc.gz.open")
        let before = try fixture.names
        #expect(try WARCWriter.recover(fixture.folder.path, prefix: "t").isEmpty)
        #expect(try fixture.names == before)
        let target = try fixture.folder.write([1, 2, 3], to: "target")
        try FileManager.default.createSymbolicLink(atPath: fixture.folder.file("t-1-5.warc.gz.open"), withDestinationPath: target)
        #expect(throws: StorageFailure.self) { try WARCWriter.recover(fixture.folder.path, prefix: "t") }
        #expect(try contents(ofFile: target) == [1, 2, 3])
    }
}
