import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct BodyDestinationTests {
    @Test("A body stays in memory up to the bound and goes to a file beyond it", arguments: [0, 1, 99, 100, 101, 40_000, 500_000])
    func bound(size: Int) async throws {
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let fixture = try EngineFixture { $0.answer(body: body) }
        let request = DownloadRequest(url: fixture.origin.url("/"), body: .memory(upTo: 100, thenFileIn: fixture.folder.path))
        let download = try await fixture.engine.download(request)
        #expect(try fixture.contents(download) == body)
        #expect(download.body.digest == SHA256Digest(of: body))
        #expect(try fixture.folder.files.count == (size > 100 ? 1 : 0))
        if case .bytes = download.body { #expect(size <= 100) } else { #expect(size > 100) }
    }

    @Test("A small body for a file stays in memory, and is the caller's to write", arguments: [0, 100, 101])
    func small(size: Int) async throws {
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let fixture = try EngineFixture { $0.answer(body: body) }
        let request = DownloadRequest(url: fixture.origin.url("/"), body: .file(in: fixture.folder.path, beyond: 100))
        let download = try await fixture.engine.download(request)
        #expect(try fixture.contents(download) == body)
        #expect(try fixture.folder.files.count == (size > 100 ? 1 : 0))
    }

    @Test("A body that fails after it has gone to its file leaves none")
    func failing() async throws {
        let fixture = try EngineFixture { peer in
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            peer.send([UInt8](repeating: 1, count: 500))
            return false
        }
        let request = DownloadRequest(url: fixture.origin.url("/"), body: .memory(upTo: 100, thenFileIn: fixture.folder.path))
        let error = await #expect(throws: FetchError.self) { try await fixture.engine.download(request) }
        #expect(error?.kind == .truncated)
        #expect(try fixture.folder.files == [])
    }
}
