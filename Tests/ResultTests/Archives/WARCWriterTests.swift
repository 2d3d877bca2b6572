import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP
@testable import Results

@Suite struct WARCWriterTests {
    @Test func `an exchange is a response and its request, as they went over the wire`() throws {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer()
        var exchange = ArchiveFixture.exchange(1, head: "HTTP/2 404 \r\nb: 2\r\na: 1\r\nb: 3\r\n\r\n")
        exchange.protocols = ["h2", "tls/1.3"]
        exchange.remoteAddress = "2001:db8::1"
        exchange.cut = .disconnect
        let place = try writer.write(exchange)
        try writer.close()
        #expect(try fixture.names == ["t-20260101000000-00000.cdxj", "t-20260101000000-00000.warc.gz"])
        let records = try fixture.records(place.file)
        #expect(records.map(\.type) == ["warcinfo", "response", "request"])
        #expect(records[0]["WARC-Filename"] == place.file)
        let response = records[1]
        #expect(response.text == "HTTP/1.1 404 \r\nb: 2\r\na: 1\r\nb: 3\r\n\r\nbody 1")
        #expect(place == .record(file: place.file, offset: response.offset))
        #expect(response.fields.filter { $0.name == "WARC-Protocol" }.map(\.value) == ["h2", "tls/1.3"])
        #expect(response["WARC-Record-ID"] == "<urn:uuid:\(ArchiveFixture.id(1).uuidString.lowercased())>")
        #expect(response["WARC-Target-URI"] == exchange.url)
        #expect(response["WARC-Date"] == "2026-01-01T00:00:01.000Z")
        #expect(response["WARC-IP-Address"] == "2001:db8::1")
        #expect(response["WARC-Truncated"] == "disconnect")
        #expect(response["WARC-Payload-Digest"] == "sha256:" + ArchiveFixture.digest(response.payload).hexadecimal)
        #expect(response["WARC-Block-Digest"] == "sha256:" + ArchiveFixture.digest(response.block).hexadecimal)
        #expect(response["Content-Type"] == "application/http; msgtype=response")
        // The cookie is a secret.
        #expect(records[2].text == "GET /1 HTTP/1.1\r\nHost: example.com\r\n\r\n")
        #expect(records[2]["WARC-Concurrent-To"] == response["WARC-Record-ID"])
        #expect(records[2]["Content-Type"] == "application/http; msgtype=request")
    }

    @Test(
        arguments: [
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n\r\n"
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
            ("HTTP/1.1 200 OK\r\ncontent-length:  5 \r\n\r\n", "HTTP/1.1 200 OK\r\nX-Archive-Orig-content-length:  5 \r\n\r\n"),
            ("HTTP/1.0 500 Oh dear me\nA: b\n c\n\nrest", "HTTP/1.0 500 Oh dear me\r\nA: b\r\n c\r\n\r\n"),
            ("HTTP/3 200\r\nA: b\rc\0d\r\n\r\n", "HTTP/1.1 200 \r\nA: b c d\r\n\r\n"),
        ])
    func `a head says no length and no coding that the body in the record has not`(wire: String, expected: String) throws {
        #expect(String(decoding: try HTTPHead.response(Array(wire.utf8), bodyCount: 4).bytes, as: UTF8.self) == expected)
    }

    @Test func `a long body is streamed, and makes the same file from memory and from a path`() throws {
        var random = SeededBytes(seed: 5)
        let body = random.next(count: WARCWriter.smallBody + 100_000)
        var files: [[UInt8]] = []
        for source in 0..<2 {
            let fixture = try ArchiveFixture()
            let path = try fixture.folder.write(body + [1, 2, 3], to: "body")
            var exchange = ArchiveFixture.exchange(1, body: body)
            if source == 1 { exchange.body = .file(path: path, count: body.count) }
            let writer = fixture.writer()
            let place = try writer.write(exchange)
            try writer.close()
            #expect(try fixture.records(place.file)[1].payload == body)
            files.append(try contents(ofFile: fixture.folder.file(place.file)))
        }
        #expect(files[0] == files[1])
    }

    @Test func `values that cannot stand in a record are refused, and the next exchange is written`() throws {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer()
        var unfit: [WARCExchange] = []
        for url in ["http://h/ a", "http://h/\r\nWARC-Type: x", "", "nothing", "http://h/" + String(repeating: "a", count: 70_000)] {
            var exchange = ArchiveFixture.exchange(1)
            exchange.url = url
            unfit.append(exchange)
        }
        for head in ["", "ICY 200 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 304 \r\n\r\n"] {
            unfit.append(ArchiveFixture.exchange(1, head: head))
        }
        var exchange = ArchiveFixture.exchange(1)
        exchange.remoteAddress = "1.2.3.4\r\nX: y"
        unfit.append(exchange)
        exchange = ArchiveFixture.exchange(1)
        exchange.protocols = ["h2 h3"]
        unfit.append(exchange)
        exchange = ArchiveFixture.exchange(1)
        exchange.payloadDigest = [1, 2, 3]
        unfit.append(exchange)
        for exchange in unfit { #expect(throws: UnfitForArchive.self) { try writer.write(exchange) } }
        let place = try writer.write(ArchiveFixture.exchange(2))
        try writer.close()
        #expect(try fixture.records(place.file).count == 3)
        #expect(throws: StorageFailure.self) { try writer.write(ArchiveFixture.exchange(3)) }
    }

    @Test func `an exchange whose body ends too early leaves nothing in the file`() throws {
        let fixture = try ArchiveFixture()
        var random = SeededBytes(seed: 6)
        let path = try fixture.folder.write(random.next(count: 2_000_001), to: "body")
        // The body has its digest when the request gets its id, and is cut before the record is written.
        let writer = fixture.writer { if $0 == 5 { truncate(path, 2_000_000) } }
        try writer.write(ArchiveFixture.exchange(1))
        var exchange = ArchiveFixture.exchange(2)
        exchange.body = .file(path: path, count: 2_000_001)
        #expect(throws: StorageFailure("A body should have 2000001 bytes, and 2000000 could be read.")) { try writer.write(exchange) }
        let place = try writer.write(ArchiveFixture.exchange(3))
        try writer.close()
        let records = try fixture.records(place.file)
        #expect(records.map { $0["WARC-Target-URI"]?.suffix(2) } == [nil, "/1", "/1", "/3", "/3"])
        #expect(try fixture.index(place.file).count == 2)
    }

    @Test func `a resource has the body alone`() throws {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer()
        var resource = WARCExchange(url: "https://h/a", date: ArchiveFixture.date(0), body: .bytes(Array("body".utf8)))
        resource.contentType = "text/css; charset=utf-8"
        let place = try writer.write(resource)
        try writer.write(resource)
        try writer.close()
        #expect(try fixture.types == [["resource", "resource"]])
        let record = try fixture.records(place.file)[1]
        #expect(record.type == "resource" && record.text == "body")
        #expect(record["Content-Type"] == "text/css; charset=utf-8")
        #expect(try fixture.index(place.file)[0].contains(#""mime": "text/css", "status": "-""#))
    }

    // MARK: Files

    @Test func `a file ends with the exchange that reaches its size, and each has its index`() throws {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer(size: 2500)
        for number in 0..<20 { try writer.write(ArchiveFixture.exchange(number)) }
        // Only the last is open.
        #expect(try fixture.names.filter { $0.hasSuffix(".open") }.count == 1)
        try writer.close()
        try writer.close()
        let files = try fixture.archives
        #expect(files.count > 3)
        #expect(try fixture.names.count == 2 * files.count)
        var urls: [String?] = []
        for (number, file) in files.enumerated() {
            #expect(file == "t-20260101000000-0000\(number).warc.gz")
            let records = try fixture.records(file)
            urls += records.filter { $0.type == "response" }.map { $0["WARC-Target-URI"] }
            for record in records where record.type == "response" {
                let line = #""length": "\#(record.length)", "offset": "\#(record.offset)", "filename": "\#(file)"}"#
                #expect(try fixture.index(file).count { $0.hasSuffix(line) && $0.contains("\"\(record["WARC-Target-URI"]!)\"") } == 1)
            }
            #expect(try fixture.index(file) == fixture.index(file).sorted())
        }
        #expect(urls == (0..<20).map { "http://example.com/\($0)" })
        // The next run goes on behind the last number.
        let next = fixture.writer()
        #expect(try next.write(ArchiveFixture.exchange(1)).file == "t-20260101000000-0000\(files.count).warc.gz")
    }

    @Test func `a file ends where its index would take too much memory`() throws {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer(indexSize: 1000)
        for number in 0..<20 { try writer.write(ArchiveFixture.exchange(number)) }
        try writer.close()
        #expect(try fixture.archives.count >= 4)
    }

    @Test func `many threads write whole exchanges`() throws {
        let fixture = try ArchiveFixture()
        let writer = fixture.writer(size: 20_000)
        let threads = (0..<4).map { lane in
            OwnedThread(name: "lane") {
                for number in 0..<100 {
                    // Half of the bodies are equal to one of another thread. Some take so long to pack that they are on their way together.
                    var random = SeededBytes(seed: UInt64(number))
                    let body = number % 2 == 0 ? random.next(count: number % 10 == 0 ? 100_000 : 10) : nil
                    do {
                        try writer.write(ArchiveFixture.exchange(lane * 100 + number, body: body))
                        if number % 10 == 0 { try writer.flush() }
                    } catch { Issue.record("\(error)") }
                }
            }
        }
        for thread in threads { thread?.join() }
        try writer.close()
        var counts: [String: Int] = [:]
        for file in try fixture.archives {
            // In each file a body stands once, and an original comes before its revisits.
            var (seen, bodies): (Set<String>, Set<[UInt8]>) = ([], [])
            for record in try fixture.records(file) {
                counts[record.type, default: 0] += 1
                if let original = record["WARC-Refers-To"] { #expect(seen.contains(original)) }
                guard record.type == "response" else { continue }
                seen.insert(record["WARC-Record-ID"]!)
                #expect(bodies.insert(record.payload).inserted)
            }
        }
        #expect(counts["request"] == 400 && counts["response", default: 0] + counts["revisit", default: 0] == 400)
        #expect(counts["response", default: 0] >= 250 && counts["revisit", default: 0] > 0)
    }
}
