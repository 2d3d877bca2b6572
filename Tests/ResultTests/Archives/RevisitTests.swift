import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import Results

@Suite struct RevisitTests {
    @Test func `an equal body is a revisit of the first`() throws {
        let fixture = try ArchiveFixture()
        let writer = try fixture.writer { $0.fileSize = 1 }
        let body = Array("equal".utf8)
        let first = try writer.write(ArchiveFixture.exchange(1, body: body))
        let second = try writer.write(ArchiveFixture.exchange(2, body: body, head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
        try writer.close()
        #expect(first.kind == .response && second.kind == .revisit && first.file != second.file)
        let record = try fixture.records(second.file)[1]
        #expect(record.type == "revisit")
        #expect(record["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest")
        #expect(record["WARC-Refers-To"] == "<urn:uuid:\(first.recordID.uuidString.lowercased())>")
        #expect(record["WARC-Refers-To-Target-URI"] == "http://example.com/1")
        #expect(record["WARC-Refers-To-Date"] == "2026-01-01T00:00:01.000Z")
        #expect(record["WARC-Payload-Digest"] == "sha256:" + ArchiveFixture.digest(body).hexadecimal)
        #expect(record.text == "HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n\r\n")
        #expect(try fixture.index(second.file)[0].contains(#""mime": "warc/revisit", "status": "-""#))
    }

    @Test func `where files stand for themselves, an equal body is written whole in each`() throws {
        let fixture = try ArchiveFixture()
        let body = Array("equal".utf8)
        let size = try fixture.writer().write(ArchiveFixture.exchange(0, body: [])).length
        let writer = try fixture.writer {
            $0.fileSize = 4 * size
            $0.revisitsEarlierFiles = false
        }
        var places: [WARCPlace] = []
        for number in 0..<20 { places.append(try writer.write(ArchiveFixture.exchange(number, body: body))) }
        try writer.close()
        let files = Dictionary(grouping: places, by: \.file).mapValues { $0.map(\.kind) }
        #expect(files.count > 2)
        for (file, kinds) in files {
            #expect(kinds.first == .response && kinds.dropFirst().allSatisfy { $0 == .revisit }, "\(file): \(kinds)")
        }
    }

    @Test func `empty, cut off and redirecting answers are written whole`() throws {
        let fixture = try ArchiveFixture()
        let writer = try fixture.writer()
        for number in 0..<2 {
            #expect(try writer.write(ArchiveFixture.exchange(number, body: [])).kind == .response)
            #expect(try writer.write(ArchiveFixture.exchange(number, body: [1], head: "HTTP/1.1 301 Moved\r\n\r\n")).kind == .response)
            var truncated = ArchiveFixture.exchange(number, body: [2])
            truncated.truncation = .length
            #expect(try writer.write(truncated).kind == .response)
        }
    }

    @Test func `a body of a failed write is not the original of another`() throws {
        let fixture = try ArchiveFixture()
        let writer = try fixture.writer { $0.hasBlockDigests = false }
        let body = Array("equal".utf8)
        var short = ArchiveFixture.exchange(1)
        short.body = .file(path: try fixture.folder.write([1], to: "body"), count: 2)
        short.payloadDigest = ArchiveFixture.digest(body)
        #expect(throws: ArchiveError.self) { try writer.write(short) }
        #expect(try writer.write(ArchiveFixture.exchange(2, body: body)).kind == .response)
    }

    @Test func `a 304 confirms an earlier answer`() throws {
        let fixture = try ArchiveFixture()
        let writer = try fixture.writer()
        var exchange = ArchiveFixture.exchange(2, body: [], head: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n")
        let original = UUID()
        exchange.confirms = WARCReference(
            url: "http://example.com/1", date: ArchiveFixture.date(1), recordID: original, payloadDigest: [UInt8](repeating: 7, count: 32))
        let place = try writer.write(exchange)
        exchange.confirms = nil
        try writer.write(exchange)
        try writer.close()
        let records = try fixture.records(place.file)
        #expect(records[1]["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified")
        #expect(records[1]["WARC-Refers-To"] == "<urn:uuid:\(original.uuidString.lowercased())>")
        #expect(records[1]["WARC-Refers-To-Target-URI"] == "http://example.com/1")
        #expect(records[1]["WARC-Payload-Digest"] == "sha256:" + String(repeating: "07", count: 32))
        #expect(records[1].text == "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n")
        #expect(records[3].type == "revisit" && records[3]["WARC-Refers-To"] == nil)
    }

    @Test func `the oldest digest is forgotten first, and its body is written whole again`() throws {
        let fixture = try ArchiveFixture()
        let writer = try fixture.writer { $0.rememberedDigests = 3 }
        for number in 0..<4 { try writer.write(ArchiveFixture.exchange(number)) }
        #expect(try writer.write(ArchiveFixture.exchange(3)).kind == .revisit)
        #expect(try writer.write(ArchiveFixture.exchange(0)).kind == .response)
        #expect(try writer.write(ArchiveFixture.exchange(0)).kind == .revisit)
    }

    @Test func `remembered URLs have a bound of bytes`() {
        var memory = PayloadMemory(limit: 1000, urlBytesLimit: 6400)
        for number in 0..<500 {
            let url = String(repeating: "u", count: number % 120 + 1)
            memory.add(
                [UInt8(number & 255), UInt8(number >> 8)],
                PayloadMemory.Original(recordID: UUID(), time: WARCTime(milliseconds: 0), url: url))
            #expect(memory.urlBytes <= 6400)
        }
        #expect(memory.count > 50)
        #expect(memory[[UInt8(498 & 255), 1]] != nil || 498 % 120 + 1 > 100)
        #expect(memory[[0, 0]] == nil)
    }
}
