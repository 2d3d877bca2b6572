import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP
@testable import Results

@Suite struct RevisitTests {
    @Test func `an equal body is a revisit of the first`() throws {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer()
        let body = Array("equal".utf8)
        try writer.write(ArchiveFixture.exchange(1, body: body))
        let second = try writer.write(ArchiveFixture.exchange(2, body: body, head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
        try writer.close()
        #expect(try fixture.types == [["response", "revisit"]])
        let records = try fixture.records(second.file)
        let record = records[3]
        #expect(second == .record(file: second.file, offset: record.offset))
        #expect(record["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest")
        #expect(record["WARC-Refers-To"] == records[1]["WARC-Record-ID"])
        #expect(record["WARC-Refers-To-Target-URI"] == "http://example.com/1")
        #expect(record["WARC-Refers-To-Date"] == "2026-01-01T00:00:01.000Z")
        #expect(record["WARC-Payload-Digest"] == "sha256:" + ArchiveFixture.digest(body).hexadecimal)
        #expect(record.text == "HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n\r\n")
        #expect(try fixture.index(second.file)[1].contains(#""mime": "warc/revisit", "status": "-""#))
    }

    @Test func `files stand for themselves, so an equal body is written whole in each`() throws {
        let (small, fixture) = (try ArchiveFixture(), try ArchiveFixture())
        let place = try small.writer().write(ArchiveFixture.exchange(0, body: []))
        let size = try #require(try small.records(place.file + ".open").last).length
        let writer = fixture.writer(size: 8 * size)
        for number in 0..<20 { try writer.write(ArchiveFixture.exchange(number, body: Array("equal".utf8))) }
        try writer.close()
        let files = try fixture.types
        #expect(files.count > 2 && files.joined().count == 20)
        for types in files { #expect(types.first == "response" && types.dropFirst().allSatisfy { $0 == "revisit" }, "\(types)") }
    }

    @Test func `empty, cut off and redirecting answers are written whole`() throws {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer()
        for number in 0..<2 {
            try writer.write(ArchiveFixture.exchange(number, body: []))
            try writer.write(ArchiveFixture.exchange(number, body: [1], head: "HTTP/1.1 301 Moved\r\n\r\n"))
            var truncated = ArchiveFixture.exchange(number, body: [2])
            truncated.cut = .length
            try writer.write(truncated)
        }
        #expect(try fixture.types == [[String](repeating: "response", count: 6)])
    }

    @Test func `a body of a failed write is not the original of another`() throws {
        let fixture = try ArchiveFixture()
        let body = Array("equal".utf8)
        let path = try fixture.folder.write(body, to: "body")
        // The body has its digest when the request gets its id, and is cut before the record is written.
        let writer = fixture.writer { if $0 == 2 { truncate(path, 2) } }
        var short = ArchiveFixture.exchange(1)
        short.body = .file(path: path, count: body.count)
        #expect(throws: StorageFailure.self) { try writer.write(short) }
        try writer.write(ArchiveFixture.exchange(2, body: body))
        #expect(try fixture.types == [["response"]])
    }

    @Test func `a 304 is a revisit without an original`() throws {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer()
        let exchange = ArchiveFixture.exchange(2, body: [], head: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n")
        let place = try writer.write(exchange)
        try writer.close()
        let record = try fixture.records(place.file)[1]
        #expect(record.type == "revisit" && record["WARC-Refers-To"] == nil && record["WARC-Payload-Digest"] == nil)
        #expect(record["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified")
        #expect(record.text == "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n")
    }
}
