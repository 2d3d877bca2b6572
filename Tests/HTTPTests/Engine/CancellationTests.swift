import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct CancellationTests {
    private static let silent: @Sendable (Peer) -> Bool = { peer in
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na")
        return peer.waitForClose()
    }

    private func kind(of task: Task<Download, any Error>) async -> FetchError.Kind? {
        do {
            _ = try await task.value
            return nil
        } catch {
            return (error as? FetchError)?.kind
        }
    }

    @Test("Cancelling a task closes its connection and leaves no file")
    func cancel() async throws {
        let fixture = try EngineFixture(Self.silent)
        let task = Task { try await fixture.get() as Download }
        await fixture.origin.wait { if case .request = $0 { true } else { false } }
        task.cancel()
        #expect(await kind(of: task) == .cancelled)
        #expect(try fixture.folder.files == [])
        #expect(fixture.folder.openFiles == [])
        await fixture.origin.wait { $0 == .closed }
    }

    @Test("A task cancelled before it starts makes no request")
    func cancelledBefore() async throws {
        let fixture = try EngineFixture()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await fixture.get("/never") as Download
        }
        #expect(await kind(of: task) == .cancelled)
        _ = try await fixture.get("/after")
        await fixture.origin.wait { event in
            guard case .request(let head) = event else { return false }
            #expect(head.hasPrefix("GET /after "))
            return true
        }
    }

    @Test("A transfer that waits for its turn is cancelled without it")
    func cancelWaiting() async throws {
        let fixture = try EngineFixture(options: { $0.maximumInFlight = 1 }, script: Self.silent)
        let first = Task { try await fixture.get("/first") as Download }
        await fixture.origin.wait { if case .request = $0 { true } else { false } }
        let second = Task { try await fixture.get("/second") as Download }
        second.cancel()
        #expect(await kind(of: second) == .cancelled)
        first.cancel()
        #expect(await kind(of: first) == .cancelled)
    }

    @Test("Ten thousand transfers cancelled at any moment leave nothing, and the engine goes on")
    func storm() async throws {
        let fixture = try EngineFixture { $0.answer(body: [UInt8](repeating: 7, count: 20_000)) }
        for _ in 0..<100 {
            let tasks = (0..<100).map { number in Task { try await fixture.get("/\(number)") as Download } }
            await Task.yield()
            for task in tasks { task.cancel() }
            for task in tasks {
                if case .file(let path, _)? = try? await task.value.body { #expect(unlink(path) == 0) }
            }
        }
        #expect(try fixture.folder.files == [])
        #expect(fixture.folder.openFiles == [])
        #expect(try await fixture.get().byteCount == 20_000)
    }

    @Test("Shutting down ends running downloads and refuses later ones")
    func shutdown() async throws {
        let fixture = try EngineFixture(options: { $0.maximumInFlight = 1 }, script: Self.silent)
        let running = Task { try await fixture.get("/running") as Download }
        await fixture.origin.wait { if case .request = $0 { true } else { false } }
        let waiting = Task { try await fixture.get("/waiting") as Download }
        fixture.engine.shutdown()
        fixture.engine.shutdown()
        #expect(await kind(of: running) == .cancelled)
        #expect(await kind(of: waiting) == .cancelled)
        #expect(try await fixture.failure().kind == .cancelled)
        await fixture.origin.wait { $0 == .closed }
    }

    @Test("An engine without an owner closes its connections")
    func deinitialisation() async throws {
        let folder = try TemporaryFolder()
        let origin = ScriptedOrigin { $0.answer() }
        do {
            var options = FetchSettings()
            options.allowedNetworks = ["all"]
            let engine = try CurlDownloader(options)
            _ = try await engine.download(DownloadRequest(url: origin.url("/"), body: .file(in: folder.path)))
        }
        await origin.wait { $0 == .closed }
    }
}
