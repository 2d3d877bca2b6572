import Foundation
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct EncodedBodyTests {
    /// "hello" in gzip, 25 bytes of which the last 8 are the trailer.
    private static let gzip: [UInt8] = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x86, 0xa6, 0x10, 0x36, 0x05,
        0x00, 0x00, 0x00,
    ]

    /// More zeros than are permitted.
    private static let zeros: [UInt8] = {
        let block = [UInt8](repeating: 0, count: 65_535)
        // Stored blocks: no compression, and as many bytes as they say.
        var bytes: [UInt8] = [0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 2, 3]
        for _ in 0..<2 { bytes += [0, 0xff, 0xff, 0, 0] + block }
        return bytes
    }()

    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var version = "1.1"
        var headers = ["Content-Encoding: gzip"]
        var body: [UInt8]
    }

    private static let whole = [
        Answer(testDescription: "gzip", body: gzip),
        Answer(testDescription: "its old name", headers: ["Content-Encoding: x-gzip"], body: gzip),
        Answer(testDescription: "two headers", headers: ["Content-Encoding: identity", "Content-Encoding: gzip"], body: gzip),
        Answer(testDescription: "one of two", headers: ["Content-Encoding: identity, GZip"], body: gzip),
        Answer(testDescription: "a folded header", headers: ["Content-Encoding:", " gzip"], body: gzip),
        Answer(testDescription: "HTTP/1.0, to the end of the connection", version: "1.0", body: gzip),
        Answer(testDescription: "brotli", headers: ["content-encoding:br"], body: [0x0b, 0x02, 0x80] + Array("hello".utf8) + [0x03]),
    ]

    private static let defective = [
        Answer(testDescription: "cut in the middle", body: Array(gzip.prefix(13))),
        Answer(testDescription: "without its trailer", body: Array(gzip.dropLast(8))),
        Answer(testDescription: "not gzip at all", body: Array("hello".utf8)),
        Answer(testDescription: "HTTP/1.0, cut", version: "1.0", body: Array(gzip.prefix(13))),
        Answer(testDescription: "one byte of brotli", headers: ["content-encoding:br"], body: [0x0b]),
        Answer(testDescription: "four bytes of zstd", headers: ["CONTENT-ENCODING: zstd"], body: [0x28, 0xb5, 0x2f, 0xfd]),
        Answer(testDescription: "an unknown encoding", headers: ["Content-Encoding: mystery"], body: [1]),
        Answer(testDescription: "encoded for the transfer", headers: ["Transfer-Encoding: gzip"], body: Array(gzip.prefix(13))),
    ]

    private static func send(_ answer: Answer, to peer: Peer) -> Bool {
        var lines = ["HTTP/\(answer.version) 200 OK"] + answer.headers
        let endsByClosing = answer.version == "1.0" || lines.contains { $0.hasPrefix("Transfer") }
        if !endsByClosing { lines.append("Content-Length: \(answer.body.count)") }
        peer.send(Array((lines + ["", ""]).joined(separator: "\r\n").utf8) + answer.body)
        return false
    }

    @Test("An encoded body is decoded", arguments: whole)
    func unpacked(answer: Answer) async throws {
        let fixture = try EngineFixture { Self.send(answer, to: $0) }
        let download = try await fixture.get()
        #expect(try fixture.contents(download) == Array("hello".utf8))
        #expect(download.byteCount == 5)
        #expect(download.transferredBytes == Int64(answer.body.count))
    }

    @Test("An encoded body that is cut or damaged is the URL's failure, and nothing of it is kept", arguments: defective)
    func broken(answer: Answer) async throws {
        let fixture = try EngineFixture { Self.send(answer, to: $0) }
        let kind = try await fixture.failure().kind
        #expect(kind == .badEncoding || kind == .truncated)
    }

    @Test("The decoded body ends at the limit")
    func bomb() async throws {
        let fixture = try EngineFixture {
            $0.maximumBody = 1000
        } script: {
            Self.send(Answer(testDescription: "", body: Self.zeros), to: $0)
        }
        #expect(try await fixture.failure().kind == .tooLarge)
    }

    @Test("The encoding is named, without what could steer a terminal")
    func named() async throws {
        let fixture = try EngineFixture { $0.answer(headers: ["Content-Encoding: identity, X-\u{1b}[2J, br"], body: [1]) }
        #expect(try await fixture.failure().detail.hasPrefix("the body is x-\\u{1b}[2j-encoded"))
    }

    @Test(
        "An encoding without effect is ignored",
        arguments: [["Content-Encoding: identity"], ["Content-Encoding: None"], ["Content-Encoding:"], ["X-Content-Encoding: gzip"]])
    func identity(headers: [String]) async throws {
        let fixture = try EngineFixture { $0.answer(headers: headers, body: Array("hello".utf8)) }
        #expect(try fixture.contents(try await fixture.get()) == Array("hello".utf8))
    }

    @Test("Only the last answer's encoding counts, and only where there is a body to store")
    func hops() async throws {
        let fixture = try EngineFixture { peer in
            switch peer.path {
            case "/1": peer.answer(302, headers: ["Location: /2", "Content-Encoding: gzip"], body: Self.gzip)
            case "/nothing": peer.send("HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n")
            case "/missing": peer.answer(404, headers: ["Content-Encoding: gzip"], body: Self.gzip)
            // A trailer says nothing about the body before it.
            default:
                peer.send(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Encoding\r\n\r\n"
                        + "5\r\nhello\r\n0\r\nContent-Encoding: gzip\r\n\r\n")
            }
        }
        #expect(try fixture.contents(try await fixture.get("/1")) == Array("hello".utf8))
        #expect(try await fixture.get("/nothing").byteCount == 0)
        #expect(await #expect(throws: FetchError.self) { try await fixture.get("/missing") as Download }?.kind == .status(404))
    }

    @Test("Encodings are asked for, but not with a part of the body")
    func request() async throws {
        let fixture = try EngineFixture { $0.answer(body: Array($0.head.lowercased().utf8)) }
        let head = String(decoding: try fixture.contents(try await fixture.get()), as: UTF8.self)
        #expect(head.contains("\r\naccept-encoding: gzip, deflate, br, zstd\r\n") && !head.contains("\r\nte:"))
        let range = try #require(HeaderField(name: "Range", value: "bytes=0-"))
        let part = String(decoding: try fixture.contents(try await fixture.get(headers: [range])), as: UTF8.self)
        #expect(part.contains("\r\naccept-encoding: identity\r\n"))
    }
}
