import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP

/// A request that refuses an answer by its head, or wants only the first part of its body.
@Suite(.timeLimit(.minutes(3))) struct RefusalTests {
    private static func request(_ url: String, _ fixture: EngineFixture) -> DownloadRequest {
        DownloadRequest(url: url, body: .file(in: fixture.folder.path))
    }

    @Test func `an answer that is refused ends before its body is taken, and leaves no file`() async throws {
        // The origin would never come to the end of its body.
        let fixture = try EngineFixture { peer in
            peer.send("HTTP/1.1 200 OK\r\nX-Robots-Tag: noai\r\nContent-Length: 100000\r\n\r\nbegin")
            return peer.waitForClose()
        }
        var request = Self.request(fixture.origin.url("/"), fixture)
        request.refusal = { $0["x-robots-tag"].map { "it says \($0)" } }
        let error = await #expect(throws: FetchError.self) { try await fixture.engine.download(request) }
        #expect(error?.kind == .disallowed && error?.detail == "it says noai")
        #expect(try fixture.folder.files == [])
    }

    @Test func `the head of the final answer decides, and neither that of a redirect nor that of an error`() async throws {
        let fixture = try EngineFixture { peer in
            switch peer.path {
            case "/moved": peer.answer(302, headers: ["X-Robots-Tag: noai", "Location: /there"])
            case "/there": peer.answer(headers: ["X-Other: 1"], body: [1, 2])
            default: peer.answer(404, headers: ["X-Robots-Tag: noai"])
            }
        }
        let seen = Mutex<[Bool]>([])
        var request = Self.request(fixture.origin.url("/moved"), fixture)
        request.refusal = { headers in
            seen.withLock { $0.append(headers.has("x-robots-tag")) }
            return nil
        }
        #expect(try fixture.contents(try await fixture.engine.download(request)) == [1, 2])
        request.url = fixture.origin.url("/nothing")
        let error = await #expect(throws: FetchError.self) { try await fixture.engine.download(request) }
        #expect(error?.kind == .status(404) && seen.withLock { $0 } == [false])
    }

    @Test(arguments: [(99, 99), (100, 100), (101, 100), (100_000, 100)])
    func `a body is cut where the request says, and the rest is not received`(size: Int, kept: Int) async throws {
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let fixture = try EngineFixture { $0.answer(body: body) }
        var request = Self.request(fixture.origin.url("/"), fixture)
        request.cut = 100
        let download = try await fixture.engine.download(request)
        #expect(try fixture.contents(download) == Array(body.prefix(kept)) && download.byteCount == Int64(kept))
    }

    @Test func `an encoded body is cut by its decoded bytes`() async throws {
        let body = [UInt8](repeating: 7, count: 1_000_000)
        let packed = Deflated.gzip(body)
        let fixture = try EngineFixture { $0.answer(headers: ["Content-Encoding: gzip"], body: packed) }
        var request = Self.request(fixture.origin.url("/"), fixture)
        request.cut = 1000
        #expect(try fixture.contents(try await fixture.engine.download(request)) == Array(body.prefix(1000)))
    }
}
