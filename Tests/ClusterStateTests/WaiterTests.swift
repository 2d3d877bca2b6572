#if canImport(Glibc)
import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// Callers that found a URL busy are told when it is free, whatever freed it.
@Suite struct WaiterTests {
    private static let id = QueueFixture.id(0)
    private static let told = "u" + StateDump.shown(id.bytes)

    private static func acquire(_ fixture: QueueFixture, _ nonce: UInt64, inbox: String? = nil) async throws -> LockToken? {
        var request = AcquireRequest(id: id, nonce: Nonce(nonce), lease: QueueFixture.lease)
        request.inbox = inbox
        switch try await fixture.cluster.acquire(request).fate {
        case .leased(let token, _): return token
        case .busy: return nil
        case let fate: throw KitError("neither leased nor busy: \(fate)")
        }
    }

    /// The holder of the URL, and how the holding ends.
    enum End: CaseIterable, Sendable {
        case committed, failed, released, leaseEnded, jobFetched, jobHandedBack, jobGivenUp, reclaimed
    }

    @Test(arguments: End.allCases)
    func `each process is told once when the URL is free`(end: End) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let inboxes = try await Inboxes(fixture, ["a", "b", "other"])
            func settle(_ outcome: Settlement.Outcome) async throws {
                let token = try #require(try await Self.acquire(fixture, 1))
                try await wait()
                #expect(try await fixture.cluster.settle([Settlement(token, Self.id, outcome)], random: 0) == [.settled])
            }
            func wait() async throws {
                // Two callers are of one process, and one is of another.
                for (nonce, inbox) in [(2, 0), (3, 0), (4, 1)] as [(UInt64, Int)] {
                    #expect(try await Self.acquire(fixture, nonce, inbox: inboxes.names[inbox]) == nil)
                }
                #expect(try await inboxes.messages() == [[], [], []])
            }
            func job() async throws -> Job {
                try await fixture.fill(0..<1)
                let job = try #require(try await fixture.claim(1).jobs.first)
                try await wait()
                return job
            }
            switch end {
            case .committed: try await settle(QueueFixture.fetched("u"))
            case .failed: try await settle(QueueFixture.failed("u"))
            case .released: try await settle(.handedBack)
            case .leaseEnded:
                _ = try #require(try await Self.acquire(fixture, 1))
                try await wait()
                try await fixture.endLeases(clock)
            case .jobFetched: _ = try await fixture.settle(try await job(), QueueFixture.fetched("u"))
            case .jobHandedBack: _ = try await fixture.settle(try await job(), .handedBack)
            case .jobGivenUp: _ = try await fixture.settle(try await job(), QueueFixture.failed("u"))
            case .reclaimed:
                _ = try await job()
                try await fixture.queue.reclaimAll()
            }
            #expect(try await inboxes.messages() == [[Self.told], [Self.told], []])
            #expect(try await fixture.dump().values.keys.allSatisfy { !$0.hasPrefix("waiters:") })
            await inboxes.close()
        }
    }

    @Test func `callers wait through the next attempt of a retry`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let inboxes = try await Inboxes(fixture, ["a"])
            try await fixture.fill(0..<1)
            let job = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(job, .retry(after: .seconds(5))) == .settled)
            #expect(try await Self.acquire(fixture, 1, inbox: inboxes.names[0]) == nil)
            clock.advance(by: .seconds(5))
            let again = try await fixture.claim(1).jobs[0]
            #expect(try await inboxes.messages() == [[]])
            #expect(try await fixture.settle(again, QueueFixture.fetched("u")) == .settled)
            #expect(try await inboxes.messages() == [[Self.told]])
            await inboxes.close()
        }
    }
}
#endif
