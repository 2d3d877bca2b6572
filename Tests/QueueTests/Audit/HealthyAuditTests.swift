import GannetBase
import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// An audit of a healthy namespace finds nothing, whatever is going on.
@Suite(.timeLimit(.minutes(4))) struct HealthyAuditTests {
    @Test func `an empty namespace is in order`() async throws {
        try await QueueFixture.with { fixture in
            let found = try await fixture.cluster.audit(mend: true)
            #expect(found.isEmpty)
            #expect(try await fixture.dump().values.isEmpty)
        }
    }

    @Test func `a busy namespace with jobs in every state is in order after each step`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            let seed = UInt64.random(in: .min ... .max)
            var traffic = RandomTraffic(fixture, seed: seed)
            for step in 0..<600 {
                let did = try await traffic.step(moving: clock)
                if step % 10 != 9 { continue }
                let found = try await fixture.cluster.audit(mend: false)
                #expect(found.isEmpty, "after \(did), step \(step), seed \(seed)")
                if !found.isEmpty { return }
            }
            let before = try await fixture.dump()
            #expect(try await fixture.cluster.audit(mend: true).isEmpty, "seed \(seed)")
            #expect(try await fixture.dump() == before, "seed \(seed)")
            #expect(traffic.states == RandomTraffic.allStates, "seed \(seed)")
        }
    }

    @Test func `audits find nothing while workers go on, and hold none of them up`() async throws {
        try await QueueFixture.with { fixture in
            for batch in 0..<4 { try await fixture.fill(batch * 750..<batch * 750 + 1000, hosts: 40, batch: "\(batch)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                let isOver = SharedFlag()
                for worker in 0..<4 {
                    group.addTask {
                        var left: ExchangeAnswer.Left?
                        while left != .nothing {
                            let answer = try await fixture.claim(8, hostLimit: 2, worker: "w\(worker)")
                            for job in answer.jobs {
                                let fails = job.failures == 0 && job.entry.url.hasSuffix("7")
                                let end = fails ? QueueFixture.retried(job.url, after: .zero) : QueueFixture.fetched(job.entry.url)
                                _ = try await fixture.settle(job, job.outcome == nil ? end : .delivered)
                            }
                            left = answer.left
                        }
                    }
                }
                group.addTask {
                    while !isOver.isSet, !Task.isCancelled {
                        let found = try await fixture.cluster.audit(mend: true)
                        #expect(found.isEmpty)
                    }
                }
                for _ in 0..<4 { try await group.next() }
                isOver.set()
                try await group.waitForAll()
            }
            #expect(try await fixture.queue.counts().done == 4000)
            #expect(try await fixture.cluster.audit(mend: false).isEmpty)
        }
    }
}
