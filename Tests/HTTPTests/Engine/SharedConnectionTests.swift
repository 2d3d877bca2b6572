import GannetTestKit
import Testing

@testable import GannetHTTP

/// How many connections transfers that begin together make, counted by a real nginx.
@Suite(.timeLimit(.minutes(3))) struct SharedConnectionTests {
    /// The numbers of the connections that so many transfers came on. Each transfer must succeed.
    private func connections(of count: Int, isSecondVersion: Bool) async throws -> Set<[UInt8]> {
        let certificates = try await Certificates.shared
        let server = try await Origin.start(
            .init {
                $0.fileCount = 0
                $0.certificate = certificates.good
                $0.isFast = true
                $0.offersHTTP2 = isSecondVersion
                $0.directives = "location = /connection { return 200 $connection; }"
            })
        let fixture = try EngineFixture {
            $0.caFile = certificates.authority
            $0.maximumInFlight = count
        } script: {
            $0.answer()
        }
        let port = try #require(server.tlsPort)
        let request = DownloadRequest(
            url: "https://127.0.0.1:\(port)/connection", body: .memory(upTo: 100, thenFileIn: fixture.folder.path))
        let engine = fixture.engine
        let found = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<count {
                group.addTask {
                    guard case .bytes(let bytes) = try await engine.download(request).body else { return [] }
                    return bytes
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        try await server.stop()
        return found
    }

    @Test func `transfers that begin together at an HTTP/2 origin share few connections`() async throws {
        #expect(try await connections(of: 80, isSecondVersion: true).count <= ConnectionSharing.pioneers)
        #expect(try await connections(of: 600, isSecondVersion: true).count <= 20)
    }

    @Test func `transfers that begin together at an HTTP/1 origin under TLS all go on once it has answered`() async throws {
        #expect(try await !connections(of: 80, isSecondVersion: false).isEmpty)
    }

    @Test func `a transfer that waits for a connection of a silent origin can be cancelled`() async throws {
        // It takes connections and says nothing.
        let fixture = try EngineFixture { $0.waitForClose() }
        let url = "https://127.0.0.1:\(fixture.origin.port)/"
        let request = DownloadRequest(url: url, body: .file(in: fixture.folder.path))
        let engine = fixture.engine
        let tasks = (0..<12).map { _ in Task { try await engine.download(request) } }
        await fixture.origin.wait { $0 == .accepted }
        for task in tasks { task.cancel() }
        for task in tasks {
            let error = await #expect(throws: FetchError.self) { try await task.value }
            #expect(error?.kind == .cancelled)
        }
        #expect(try fixture.folder.files == [])
    }

    @Test func `a silent origin does not keep those that wait from connections of their own`() async throws {
        let fixture = try EngineFixture { $0.waitForClose() }
        let request = DownloadRequest(url: "https://127.0.0.1:\(fixture.origin.port)/", body: .file(in: fixture.folder.path))
        let engine = fixture.engine
        let tasks = (0..<12).map { _ in Task { try await engine.download(request) } }
        for _ in tasks { await fixture.origin.wait { $0 == .accepted } }
        for task in tasks { task.cancel() }
        for task in tasks { _ = try? await task.value }
    }
}
