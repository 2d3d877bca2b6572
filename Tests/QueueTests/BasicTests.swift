import Testing

@testable import GannetQueue

@Suite struct BasicTests {
    @Test func `a job is claimed and ends`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3, hosts: 2)
            let jobs = try await fixture.claim(10).jobs
            // A chunk is packed by host.
            #expect(jobs.map(\.entry.url) == ["http://h0/0", "http://h0/2", "http://h1/1"])
            for job in jobs {
                #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled)
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.isEmpty)
            #expect(counts.done == 3 && counts.fetched == 3)
            #expect(try await fixture.claim(10).left == .nothing)
            try await fixture.expectEnded()
        }
    }
}
