import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// The failures of a queue by their classes.
@Suite struct FailureCountsTests {
    private static func failed(_ url: String, _ errorClass: String?, behind type: String? = nil) -> Settlement.Outcome {
        var content = OutcomeContent(url: url)
        content.fields[.contentType] = type
        content.fields[.errorClass] = errorClass
        return .failed(content, Retention(fresh: .seconds(3600), keep: .seconds(3600)))
    }

    @Test func `failures count by their classes, and jobs that are tried again count no more`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<8, hosts: 2)
            let classes = ["timeout", "http-404", "timeout", nil, "Not a word!", String(repeating: "x", count: 40), "timeout", "dns"]
            for (job, errorClass) in zip(try await fixture.claim(8).jobs, classes) {
                let type = errorClass == "dns" ? "text/html" : nil
                #expect(try await fixture.settle(job, Self.failed(job.url, errorClass, behind: type)) == .settled)
            }
            let long = String(repeating: "x", count: 32)
            var overview = try await fixture.queue.overview()
            #expect(overview.failures.byClass == ["timeout": 3, "http-404": 1, "": 2, long: 1, "dns": 1])
            #expect(overview.failures.sorted.map(\.errorClass).prefix(2) == ["timeout", ""])
            #expect(overview.failures.byClass.values.reduce(0, +) == overview.counts.failed)

            // Deleted jobs have failed all the same.
            #expect(try await fixture.queue.delete(JobSelection(.dead, JobFilter(errorClass: "http-404"))).count == 1)
            #expect(try await fixture.queue.retry(JobSelection(.dead, JobFilter(errorClass: "timeout")), limit: 2).count == 2)
            #expect(try await fixture.queue.overview().failures.byClass == ["timeout": 1, "http-404": 1, "": 2, long: 1, "dns": 1])
            #expect(try await fixture.queue.retry(JobSelection(.dead)).count == 5)
            overview = try await fixture.queue.overview()
            #expect(overview.failures.byClass == ["http-404": 1] && overview.counts.failed == 1)
        }
    }
}
