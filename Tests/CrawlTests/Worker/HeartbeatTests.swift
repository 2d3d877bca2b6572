import Foundation
import GannetBase
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue

@Suite(.timeLimit(.minutes(3))) struct WorkerHeartbeatTests {
    @Test func `the time of the processor lies between two readings of its clock`() throws {
        func used() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let before = used()
        let told = try #require(ProcessFigures.current.processorSeconds)
        #expect(before <= told && told <= used())
    }

    @Test func `a worker says what it does while it works, that it stops, and nothing when it has ended`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<5)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) {
                $0.concurrency = 3
                $0.heartbeat = .milliseconds(20)
                $0.version = "1.2.3"
            }
            await downloader.waitForStarts(3)
            let record = try await Self.record(fixture) { $0.active == 3 && $0.hosts.first?.running == 3 }
            #expect(record.concurrency == 3 && record.version == "1.2.3" && !record.isStopping)
            #expect(record.machine == ThisProcess.machine && record.processID == ThisProcess.id)
            #expect(record.hosts.map(\.name) == ["h"])
            await worker.wait { if case .progress(accepted: 5, ended: 0, _) = $0 { true } else { false } }
            worker.stop()
            _ = try await Self.record(fixture) { $0.isStopping }
            downloader.open()
            _ = await worker.end
            #expect(try await fixture.queue.overview().workers == [])
        }
    }

    @Test func `an idle worker that begins to work says so at once, not with its next heartbeat`() async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) {
                $0.endsWhenEmpty = false
                $0.heartbeat = .seconds(3600)
            }
            #expect(try await Self.record(fixture) { _ in true }.active == 0)
            try await fixture.fill(0..<5)
            _ = try await Self.record(fixture) { $0.active == 5 && $0.hosts.first?.running == 5 }
            downloader.open()
            worker.stop()
            _ = await worker.end
        }
    }

    @Test func `a worker that nothing is asked of sends no more than two commands a second`() async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server) { fixture in
            let statistics = try await server.statistics {
                let worker = try await fixture.start(ScriptedDownloader { _ in .body("b") }) {
                    $0.endsWhenEmpty = false
                    $0.idleLook = .milliseconds(500)
                    $0.heartbeat = .milliseconds(500)
                }
                // The worker's first heartbeat, and one more.
                for _ in 0..<2 { await worker.wait { if case .progress = $0 { true } else { false } } }
                worker.stop()
                _ = await worker.end
            }
            // The usual times are ten times as long. They have two claims, two heartbeats and a farewell in five seconds. The first call of
            // each script may be repeated with its source.
            let scripts = ["evalsha", "eval"].reduce(0) { $0 + (statistics.commands[$1]?.calls ?? 0) }
            #expect(scripts <= 9, "\(statistics.commands)")
        }
        try await server.stop()
    }

    @Test func `a worker that ends during a heartbeat leaves nothing behind`() async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server) { fixture in
            let heartbeat = Heartbeat(
                name: "w", queue: fixture.queue, pulse: WorkerPulse(), activity: WorkerActivity(), options: WorkerOptions())
            let first = Task { await heartbeat.run { _ in } }
            _ = try await Self.record(fixture) { _ in true }
            first.cancel()
            await first.value
            _ = heartbeat.hasSaidIdle.take()
            server.pause()
            let second = Task { await heartbeat.run { _ in } }
            try await eventually("the heartbeat is under way") { heartbeat.hasSaidIdle.isSet }
            second.cancel()
            await second.value
            server.resume()
            #expect(await heartbeat.leave())
            #expect(try await fixture.queue.overview().workers == [])
        }
        try await server.stop()
    }

    /// The record of the only worker, once it is as wanted.
    private static func record(_ fixture: WorkerFixture, _ isWanted: (WorkerRecord) -> Bool) async throws -> WorkerRecord {
        var record: WorkerRecord?
        try await eventually("the worker's record says this, instead of \(String(describing: record))") {
            record = try await fixture.queue.overview().workers.first?.record
            return record.map(isWanted) ?? false
        }
        return try #require(record)
    }
}
