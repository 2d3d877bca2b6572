import GannetTestKit
import Testing

@testable import GannetQueue

/// When hosts are given up, as people are told.
@Suite struct HostBacklogTests {
    private static func record(silence: Int, rests: Int, age: Int) -> WorkerRecord {
        var record = WorkerRecord.ofTest("m", active: 0)
        record.patience = WaitPatience(silence: .seconds(silence), rests: .seconds(rests))
        record.age = .seconds(age)
        return record
    }

    @Test func `a host is given up by the patience of the workers whose queue has jobs there, and from their beginning on`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<4)
            let job = try #require(try await fixture.claim(1).jobs.first)
            _ = try await fixture.settle(job, QueueFixture.throttled(job.url, for: .seconds(3600)))
            #expect(try await fixture.claim(4).jobs.isEmpty)
            clock.advance(by: .seconds(50))
            // Another queue's worker waits for longer, and has no jobs there.
            _ = try await fixture.cluster.queue("other").beat("b", Self.record(silence: 900, rests: 3600, age: 50))
            let progress = try await fixture.queue.beat("a", Self.record(silence: 60, rests: 60, age: 10))
            let host = try #require(try await fixture.cluster.hostBacklogs(under: []).hosts.first)
            #expect(host.since == .seconds(50) && host.jobs == 3)
            #expect(host.givenUpWithin == .seconds(50))
            #expect(try await fixture.cluster.explain(job.id, host: "h0").givenUpWithin == .seconds(50))
            #expect(progress.waits.givenUpWithin == .seconds(50))
            #expect(try await fixture.queue.overview().waits.givenUpWithin == .seconds(50))
            // The URL that was put off waits for the same time, and the jobs behind it for their host.
            for state in [JobState.ready, .delayed] {
                let listing = try await fixture.queue.jobs(JobSelection(state), limit: 9)
                #expect(listing.jobs.count == (state == .ready ? 3 : 1))
                #expect(listing.jobs.allSatisfy { $0.givenUpWithin == .seconds(50) }, "\(state)")
            }
            clock.advance(by: .seconds(5))
            #expect(try await fixture.cluster.hostBacklogs(under: []).hosts.first?.givenUpWithin == .seconds(45))
        }
    }

    @Test func `a silent host has its own clock, and without jobs anywhere the most patient worker counts`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<1)
            let job = try #require(try await fixture.claim(1).jobs.first)
            var failure = OutcomeContent(url: job.url)
            failure.fields = [.errorClass: "connect", .errorMessage: "No connection."]
            let retention = Retention(fresh: .zero, keep: .seconds(1))
            _ = try await fixture.settle(job, .failed(failure, retention), host: .silent)
            clock.advance(by: .seconds(20))
            _ = try await fixture.queue.beat("a", Self.record(silence: 60, rests: 60, age: 5))
            #expect(try await fixture.cluster.hostBacklogs(under: []).hosts.first?.givenUpWithin == .seconds(40))
            _ = try await fixture.cluster.queue("other").beat("b", Self.record(silence: 900, rests: 3600, age: 5))
            #expect(try await fixture.cluster.hostBacklogs(under: []).hosts.first?.givenUpWithin == .seconds(880))
        }
    }
}
