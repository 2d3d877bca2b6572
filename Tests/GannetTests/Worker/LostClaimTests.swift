import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState
@testable import Gannet

/// Claims that Redis carried out and whose answers were lost.
@Suite(.timeLimit(.minutes(1))) struct LostClaimTests {
    /// Starts a worker whose first claim gets three jobs and no answer. Then the server answers again.
    private func with(_ body: (WorkerFixture, ScriptedDownloader, RunningWorker) async throws -> Void) async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server, timeout: .milliseconds(300)) { fixture in
            // Redis has to know the script of claims, or the lost call would only ask for it.
            #expect(try await fixture.claim(1).isEmpty)
            try await fixture.fill(0..<3)
            server.pause()
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader, listens: false)
            await worker.wait { if case .redis(.began) = $0 { true } else { false } }
            server.resume()
            #expect(try await fixture.queue.counts().active == 3)
            #expect(downloader.urls.isEmpty)
            try await body(fixture, downloader, worker)
        }
        try await server.stop()
    }

    @Test func `the repeated claim brings the same jobs, and charges none of them a crash`() async throws {
        try await with { fixture, downloader, worker in
            // The jobs come far sooner than the end of their leases.
            #expect(await worker.end.end == .empty)
            #expect(Set(downloader.urls).count == 3 && downloader.urls.count == 3)
            let bytes = 3 * WorkerFixture.url(0).utf8.count
            let counts = try await fixture.queue.counts()
            #expect(counts == QueueCounts(enqueued: 3, fetched: 3, bytes: bytes))
        }
    }

    @Test func `a worker that is to stop hands back the jobs of a claim whose answer was lost`() async throws {
        try await with { fixture, downloader, worker in
            worker.stop()
            #expect(await worker.end.end == .drained)
            #expect(downloader.urls.isEmpty)
            let counts = try await fixture.queue.counts()
            #expect(counts == QueueCounts(ready: 3, enqueued: 3))
        }
    }
}
