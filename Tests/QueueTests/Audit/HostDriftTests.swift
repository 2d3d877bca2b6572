import GannetRedisClient
import Testing

@testable import GannetQueue

/// Drift of hosts' records that was made by hand is found, mended, and not found again. The hosts' jobs go on.
@Suite struct HostDriftTests {
    @Test func `a host whose count of requests is too low is counted anew`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let jobs = try await fixture.claim(4, hostLimit: 2).jobs
            #expect(jobs.count == 2)
            try await fixture.setRunning(0, host: "h0")
            // Jobs wait for a request to end, and none seems to be in flight: the audit finds that, too.
            try await fixture.expectDrift([.hostCount], also: [.heldNotDue])
            #expect(try await fixture.claim(4, hostLimit: 2).jobs.isEmpty)
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            #expect(try await fixture.claim(4, hostLimit: 2).jobs.count == 2)
        }
    }

    @Test func `a host whose count of requests is too high is counted anew, and its jobs go on`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let jobs = try await fixture.claim(4, hostLimit: 2).jobs
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            try await fixture.setRunning(9, host: "h0")
            #expect(try await fixture.claim(4, hostLimit: 2).jobs.isEmpty)
            try await fixture.expectDrift([.hostCount])
            #expect(try await fixture.claim(4, hostLimit: 2).jobs.count == 2)
        }
    }

    @Test(arguments: [false, true])
    func `jobs aside for a host are looked at again`(isFree: Bool) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            let job = try await fixture.claim(1, hostLimit: 1).jobs[0]
            #expect(try await fixture.claim(3, hostLimit: 1).jobs.isEmpty)
            if isFree { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            try await fixture.send("DEL", fixture.queueKey("timers:normal"))
            try await fixture.expectDrift([.heldNotDue])
            if !isFree { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            #expect(try await fixture.claim(3, hostLimit: 1).jobs.count == 1)
        }
    }
}
