import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP

/// Bodies that break off on real connections, and their rests.
@Suite(.timeLimit(.minutes(2))) struct BodyRestTests {
    static let body: [UInt8] = {
        var random = SeededBytes(seed: 7)
        return random.next(count: 300_000)
    }()
    private static let other: [UInt8] = body.map { ~$0 }
    private static let cut = 100_000
    private static let tag = "ETag: \"v1\""

    /// The requests that an origin got, in their order.
    private final class Heads: Sendable {
        private let state = Mutex<[String]>([])

        var all: [String] { state.withLock { $0 } }

        /// - Returns: The number of the request, from 1.
        func note(_ head: String) -> Int {
            state.withLock {
                $0.append(head)
                return $0.count
            }
        }
    }

    private struct Bench {
        let fixture: EngineFixture
        let heads: Heads
    }

    private func bench(
        _ change: (inout FetchSettings) -> Void = { _ in }, _ script: @escaping @Sendable (Int, Peer) -> Bool
    ) throws -> Bench {
        let heads = Heads()
        let fixture = try EngineFixture(options: change) { peer in script(heads.note(peer.head), peer) }
        return Bench(fixture: fixture, heads: heads)
    }

    /// The beginning of the body under a head that announces the whole, and then the end of the connection.
    @discardableResult
    private static func begin(_ peer: Peer, _ headers: String..., count: Int = cut) -> Bool {
        let lines = ["HTTP/1.1 200 OK", "Content-Length: \(body.count)"] + headers + ["", ""]
        peer.send(lines.joined(separator: "\r\n"))
        peer.send(Array(body.prefix(count)))
        return false
    }

    /// A part of the body, or a piece of it.
    @discardableResult
    private static func sendRest(_ peer: Peer, from start: Int = cut, piece: Int = .max, _ headers: String = tag) -> Bool {
        let rest = body.dropFirst(start)
        let lines = [
            "HTTP/1.1 206 Partial Content", "Content-Range: bytes \(start)-\(body.count - 1)/\(body.count)",
            "Content-Length: \(rest.count)",
            headers, "", "",
        ]
        peer.send(lines.joined(separator: "\r\n"))
        peer.send(Array(rest.prefix(piece)))
        return piece >= rest.count
    }

    private func expectWhole(_ download: Download, _ bytes: [UInt8] = body, in fixture: EngineFixture) throws {
        #expect(try fixture.contents(download) == bytes)
        #expect(download.body.digest == SHA256Digest(of: bytes))
        #expect(download.status == 200)
        #expect(download.byteCount == bytes.count)
        #expect(download.transferredBytes == bytes.count)
        #expect(download.headers["content-range"] == nil)
    }

    @Test(arguments: [
        tag,
        "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\nLast-Modified: Tue, 14 Nov 2023 21:12:20 GMT",
    ])
    func `a body that breaks off goes on with one request for its rest, and has the digest of the whole`(validator: String) async throws {
        let bench = try bench { $0 == 1 ? Self.begin($1, validator) : Self.sendRest($1, validator) }
        let download = try await bench.fixture.get()
        try expectWhole(download, in: bench.fixture)
        #expect(download.continuations == 1)
        #expect(bench.heads.all.count == 2)
        let head = bench.heads.all[1].lowercased()
        #expect(head.contains("\r\nrange: bytes=\(Self.cut)-\r\n"))
        #expect(head.contains("\r\nif-range: \(validator == Self.tag ? "\"v1\"" : "tue, 14 nov 2023 21:12:20 gmt")\r\n"))
        #expect(head.contains("\r\naccept-encoding: identity\r\n"))
    }

    @Test func `so does a body in memory, and a chunked one`() async throws {
        let bench = try bench { number, peer in
            guard number == 1 else { return Self.sendRest(peer) }
            peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(Self.tag)\r\n\r\n\(String(Self.body.count, radix: 16))\r\n")
            peer.send(Array(Self.body.prefix(Self.cut)))
            return false
        }
        let fixture = bench.fixture
        let download = try await fixture.engine.download(
            DownloadRequest(url: fixture.origin.url("/"), body: .memory(upTo: 1 << 20, thenFileIn: fixture.folder.path)))
        try expectWhole(download, in: fixture)
        #expect(bench.heads.all.count == 2)
    }

    @Test func `a body whose connection is reset goes on`() async throws {
        let gate = HostileServer.Gate()
        let lines = ["HTTP/1.1 200 OK", "Content-Length: \(Self.body.count)", Self.tag, "", ""].joined(separator: "\r\n")
        let rest = Self.body.dropFirst(Self.cut)
        let part = [
            "HTTP/1.1 206 P", "Content-Range: bytes \(Self.cut)-\(Self.body.count - 1)/\(Self.body.count)", "Content-Length: \(rest.count)",
            Self.tag, "", "",
        ].joined(separator: "\r\n")
        let server = try HostileServer(scripts: [
            [.readUntil("\r\n\r\n"), .send(lines), .send(Array(Self.body.prefix(Self.cut))), .wait(for: gate), .reset],
            [.readUntil("\r\n\r\n"), .send(part), .send(Array(rest)), .close],
        ])
        let fixture = try EngineFixture()
        // The reset comes when all before it has come.
        let request = DownloadRequest(url: "http://127.0.0.1:\(server.port)/", body: .file(in: fixture.folder.path)) {
            if $0.received == Self.cut { gate.open() }
        }
        let download = try await fixture.engine.download(request)
        try expectWhole(download, in: fixture)
        #expect(server.connections == 2)
        try await server.stop()
    }

    @Test func `a body that stands still goes on`() async throws {
        try await withGrowingTime(from: .milliseconds(400), upTo: .seconds(10)) { time in
            let bench = try bench {
                $0.timeout = time
            } _: { number, peer in
                guard number == 1 else { return Self.sendRest(peer) }
                Self.begin(peer, Self.tag)
                return peer.waitForClose()
            }
            guard let download = try? await bench.fixture.get() else { return false }
            try expectWhole(download, in: bench.fixture)
            #expect(bench.heads.all.count == 2)
            return true
        }
    }

    @Test func `a body that has changed meanwhile comes anew from its first byte`() async throws {
        let bench = try bench { number, peer in
            number == 1 ? Self.begin(peer, Self.tag) : peer.answer(headers: ["ETag: \"v2\""], body: Self.other)
        }
        let download = try await bench.fixture.get()
        try expectWhole(download, Self.other, in: bench.fixture)
        #expect(download.headers["etag"] == "\"v2\"")
        #expect(bench.heads.all.count == 2)
        #expect(try bench.fixture.folder.files.count == 1)
    }

    @Test(
        arguments: [
            "206 P\r\nContent-Range: bytes 99999-299998/300000\r\n\(tag)", "206 P\r\nContent-Range: bytes 100000-299999/300001\r\n\(tag)",
            "206 P\r\nContent-Range: bytes 100000-299999/300000\r\nETag: \"v2\"", "206 P\r\n\(tag)", "416 No\r\n\(tag)", "404 No",
            "302 X\r\nLocation: /elsewhere", "304 X\r\n\(tag)", "204 X\r\n\(tag)",
            "206 P\r\nContent-Range: bytes 100000-299999/300000\r\nContent-Encoding: gzip\r\n\(tag)",
        ])
    func `an answer that is not the rest leaves the failure as it was, and nothing behind`(head: String) async throws {
        let bench = try bench { number, peer in
            if number == 1 { return Self.begin(peer, Self.tag) }
            peer.send("HTTP/1.1 \(head)\r\nContent-Length: 200000\r\n\r\n")
            peer.send(Array(Self.body.dropFirst(Self.cut)))
            return false
        }
        let error = try await bench.fixture.failure()
        #expect(error.kind == .truncated)
        #expect(bench.heads.all.count == 2)
    }

    @Test func `a request for a rest that gets no answer leaves the failure as it was`() async throws {
        let bench = try bench { number, peer in number == 1 ? Self.begin(peer, Self.tag) : false }
        #expect(try await bench.fixture.failure().kind == .truncated)
        #expect(bench.heads.all.count == 2)
    }

    @Test func `a part that says more than its range is refused`() async throws {
        let bench = try bench { number, peer in
            if number == 1 { return Self.begin(peer, Self.tag) }
            peer.send("HTTP/1.1 206 P\r\nContent-Range: bytes \(Self.cut)-\(Self.cut + 9)/300000\r\n\(Self.tag)\r\n\r\n")
            peer.send([UInt8](repeating: 1, count: 11))
            return false
        }
        #expect(try await bench.fixture.failure().kind == .protocolError)
    }

    @Test func `an origin may send the rest in parts, and may break off again`() async throws {
        let bench = try bench { number, peer in
            switch number {
            case 1: return Self.begin(peer, Self.tag)
            case 2: return Self.sendRest(peer, piece: 70_000)
            case 3:
                let start = Self.cut + 70_000
                peer.send(
                    "HTTP/1.1 206 P\r\nContent-Range: bytes \(start)-\(start + 69_999)/300000\r\nContent-Length: 70000\r\n\(Self.tag)\r\n\r\n"
                )
                return peer.send(Array(Self.body.dropFirst(start).prefix(70_000)))
            default: return Self.sendRest(peer, from: Self.cut + 140_000)
            }
        }
        let download = try await bench.fixture.get()
        try expectWhole(download, in: bench.fixture)
        #expect(download.continuations == 3)
        #expect(bench.heads.all.count == 4)
    }

    @Test func `an origin that breaks off each time gets a bounded number of requests`() async throws {
        let size = 2_000_000
        let bench = try bench { number, peer in
            let start = (number - 1) * 70_000
            let range = "Content-Range: bytes \(start)-\(size - 1)/\(size)\r\n"
            peer.send("HTTP/1.1 \(number == 1 ? "200 OK" : "206 P")\r\n\(number == 1 ? "" : range)\(Self.tag)\r\n")
            peer.send("Content-Length: \(size - start)\r\n\r\n")
            peer.send([UInt8](repeating: 1, count: 70_000))
            return false
        }
        #expect(try await bench.fixture.failure().kind == .truncated)
        #expect(bench.heads.all.count == 1 + BodyContinuation.most)
    }

    @Test func `a rest that brings little is the last one asked for`() async throws {
        let bench = try bench { number, peer in number == 1 ? Self.begin(peer, Self.tag) : Self.sendRest(peer, piece: 100) }
        #expect(try await bench.fixture.failure().kind == .truncated)
        #expect(bench.heads.all.count == 2)
    }

    @Test(
        arguments: [
            (["Content-Type: text/plain"], 100_000), (["ETag: W/\"v1\""], 100_000), ([tag, "Accept-Ranges: none"], 100_000),
            ([tag, "Content-Encoding: br"], 100_000), ([tag], 1000),
        ] as [([String], Int)])
    func `a body that cannot go on fails after one request`(headers: [String], count: Int) async throws {
        let bench = try bench { _, peer in Self.begin(peer, headers.joined(separator: "\r\n"), count: count) }
        #expect([.truncated, .badEncoding].contains(try await bench.fixture.failure().kind))
        #expect(bench.heads.all.count == 1)
    }

    @Test func `a request that keeps its exchange asks for no rest, and neither does a request for a part`() async throws {
        let bench = try bench { _, peer in Self.begin(peer, Self.tag) }
        let fixture = bench.fixture
        var kept = DownloadRequest(url: fixture.origin.url("/"), body: .file(in: fixture.folder.path))
        kept.wire = WireRecord(fileIn: fixture.folder.path, beyond: 1 << 20)
        let part = DownloadRequest(
            url: fixture.origin.url("/"), body: .file(in: fixture.folder.path),
            headers: [try #require(HeaderField(name: "Range", value: "bytes=0-"))])
        for request in [kept, part] {
            await #expect(throws: FetchError.self) { try await fixture.engine.download(request) as Download }
        }
        #expect(bench.heads.all.count == 2)
    }

    @Test func `the rest is asked for at the end of redirects, with the headers that this origin got, and without conditions`() async throws
    {
        let there = Heads()
        let second = ScriptedOrigin { peer in there.note(peer.head) == 1 ? Self.begin(peer, Self.tag) : Self.sendRest(peer) }
        let bench = try bench { _, peer in peer.answer(302, headers: ["Location: \(second.url("/there"))"]) }
        let headers = [("Authorization", "Basic secret"), ("X-Mine", "1"), ("If-None-Match", "\"v0\"")].compactMap {
            HeaderField(name: $0.0, value: $0.1)
        }
        let download = try await bench.fixture.get(headers: headers)
        try expectWhole(download, in: bench.fixture)
        #expect(download.hops.count == 1)
        #expect(bench.heads.all.count == 1)
        #expect(there.all.count == 2)
        for head in there.all {
            #expect(head.hasPrefix("GET /there "))
            #expect(head.contains("X-Mine: 1"))
            #expect(!head.contains("secret"))
        }
        #expect(there.all[0].contains("If-None-Match") && !there.all[1].contains("If-None-Match"))
    }

    @Test func `readers of a growing body get its rest, and no second beginning`() async throws {
        let bench = try bench { number, peer in
            if number == 1 || number == 3 { return Self.begin(peer, Self.tag) }
            return number == 2 ? Self.sendRest(peer) : peer.answer(body: Self.other)
        }
        let fixture = bench.fixture
        func request(_ growing: GrowingBody) -> DownloadRequest {
            var request = DownloadRequest(url: fixture.origin.url("/"), body: .memory(upTo: 1 << 20, thenFileIn: fixture.folder.path))
            request.growing = growing
            return request
        }
        try expectWhole(try await fixture.engine.download(request(GrowingBody())), in: fixture)
        let error = await #expect(throws: FetchError.self) { try await fixture.engine.download(request(GrowingBody())) as Download }
        #expect(error?.kind == .truncated)
        #expect(bench.heads.all.count == 4)
    }

    @Test func `the limit on bodies holds for the whole`() async throws {
        let bench = try bench {
            $0.maximumBody = 150_000
        } _: { number, peer in
            guard number == 1 else { return Self.sendRest(peer) }
            peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(Self.tag)\r\n\r\n\(String(Self.body.count, radix: 16))\r\n")
            peer.send(Array(Self.body.prefix(Self.cut)))
            return false
        }
        _ = try await bench.fixture.failure()
        #expect(bench.heads.all.count == 2)
    }

    @Test func `a transfer that is cancelled in its pause ends at once, and its place is free`() async throws {
        let bench = try bench {
            $0.maximumInFlight = 1
        } _: { _, peer in
            peer.path == "/next" ? peer.answer() : Self.begin(peer, Self.tag)
        }
        let fixture = bench.fixture
        let task = Task { try await fixture.get() as Download }
        await fixture.origin.wait { $0 == .closed }
        task.cancel()
        #expect(await #expect(throws: FetchError.self) { try await task.value }?.kind == .cancelled)
        #expect(try await fixture.get("/next").byteCount == 0)
        #expect(fixture.folder.openFiles == [])
    }
}
