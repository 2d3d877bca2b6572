import RedisClient
import Testing

@testable import ClusterState

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

    @Test(arguments: ["due", "mark", "never"])
    func `jobs held for a host are looked at again`(what: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            let job = try await fixture.claim(3, hostLimit: 1).jobs[0]
            if what != "mark" { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            switch what {
            case "due": try await fixture.send("DEL", fixture.queueKey("due:normal"))
            case "mark": try await fixture.send("DEL", "hosts")
            default: try await fixture.send("ZADD", fixture.queueKey("due:normal"), "inf", "h0")
            }
            try await fixture.expectDrift([.heldNotDue], also: [.hostCount])
            if what == "mark" { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            #expect(try await fixture.claim(3, hostLimit: 1).jobs.count == 1)
        }
    }

    @Test func `held jobs are found for a queue whose name is a part of a key`() async throws {
        try await QueueFixture.with { fixture in
            let name = "held"
            let fixture = QueueFixture(
                redis: fixture.redis, cluster: fixture.cluster, queue: fixture.cluster.queue(name), namespace: fixture.namespace)
            try await fixture.fill(0..<3)
            _ = try await fixture.claim(3, hostLimit: 1)
            #expect(try await fixture.cluster.audit(mend: false).isEmpty)
            try await fixture.send("DEL", .string("q:\(name):due:normal"))
            try await fixture.expectDrift([.heldNotDue])
        }
    }
}
