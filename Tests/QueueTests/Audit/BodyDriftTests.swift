import GannetRedisClient
import Testing

@testable import GannetQueue

/// An outcome does not claim a body that its Redis does not have.
@Suite struct BodyDriftTests {
    private func content(_ number: Int, file: String? = nil) -> OutcomeContent {
        var content = OutcomeContent(url: "http://h0/\(number)")
        content.digest = BlobFixture.digest(number)
        content.size = 5
        content.fields[.file] = file
        return content
    }

    @Test(arguments: [1, 3]) func `an outcome whose body is gone is found, and removed, and others are kept`(partitions: Int) async throws {
        try await QueueFixture.with(partitions: partitions) { fixture in
            let bodies = BlobStore(fixture.cluster)
            for number in [0, 1] {
                _ = try await bodies.put(digest: BlobFixture.digest(number), bytes: Array("hello".utf8), limit: 1 << 20, sparing: .zero)
            }
            try await fixture.fill(0..<4, hosts: 4)
            for job in try await fixture.claimAll(9) {
                let number = Int(job.id.bytes[7])
                let kept = Retention(fresh: .seconds(3600), keep: .seconds(3600))
                // The body of the third is in a folder, and the fourth has lost its own.
                let outcome = Settlement.Outcome.fetched(content(number, file: number == 2 ? "a/b" : nil), kept)
                #expect(try await fixture.settle(job, outcome) == .settled)
            }
            let found = try await fixture.cluster.audit(mend: false, bodies: bodies)
            #expect(found.map(\.kind) == [.outcomeWithoutBody] && found.first?.count == 1)
            #expect(try await fixture.cluster.audit(mend: true, bodies: bodies).first?.isMended == true)
            #expect(try await fixture.cluster.audit(mend: false, bodies: bodies) == [])
            for number in 0..<4 {
                let outcome = try await fixture.cluster.outcome(QueueFixture.id(number), host: "h\(number)")
                #expect((outcome == nil) == (number == 3))
            }
        }
    }

    @Test func `where bodies make room for others, a missing body is no drift`() async throws {
        try await QueueFixture.with { fixture in
            let bodies = BlobStore(fixture.cluster)
            // Bodies of the same millisecond are spared.
            var number = 0
            while try await bodies.usage().evicted == 0 {
                _ = try await bodies.put(digest: BlobFixture.digest(number), bytes: Array("hello".utf8), limit: 700, sparing: .zero)
                number += 1
            }
            try await fixture.fill(0..<1)
            let job = try await fixture.claim(1).jobs[0]
            let kept = Retention(fresh: .seconds(3600), keep: .seconds(3600))
            #expect(try await fixture.settle(job, .fetched(content(0), kept)) == .settled)
            let found = try await fixture.cluster.audit(mend: false, bodies: bodies)
            #expect(found.map(\.kind) == [.bodyEvicted] && found.first?.kind.isDrift == false)
        }
    }
}
