import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Callers that found a URL busy are told when it is free, whatever freed it.
@Suite struct WaiterTests {
    private static let id = QueueFixture.id(0)
    private static let told = "u" + StateDump.shown(id.bytes)

    /// The answer to a caller of this number. Each caller is a process of its own.
    private static func acquire(_ fixture: QueueFixture, _ caller: UInt64, inbox: String? = nil) async throws -> AcquireAnswer.Fate {
        var request = AcquireRequest(id: id, host: "h0", incarnation: Incarnation(caller), nonce: caller, lease: QueueFixture.lease)
        request.inbox = inbox
        return try await fixture.cluster.acquire(request).fate
    }

    private static func expectBusy(_ fixture: QueueFixture, _ caller: UInt64, inbox: String) async throws {
        guard case .busy = try await acquire(fixture, caller, inbox: inbox) else { throw KitError("the URL is not busy") }
    }

    private static func lease(_ fixture: QueueFixture, _ caller: UInt64) async throws -> LockToken {
        guard case .leased(let token, _) = try await acquire(fixture, caller) else { throw KitError("the URL is not free") }
        return token
    }

    /// The holder of the URL, and how the holding ends.
    enum End: CaseIterable, Sendable {
        case committed, failed, released, leaseEnded, jobFetched, jobHandedBack, jobGivenUp, jobRetried, reclaimed
    }

    @Test(arguments: End.allCases)
    func `each process is told once when the URL is free`(end: End) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let inboxes = try await Inboxes(fixture, ["a", "b", "other"])
            func settle(_ outcome: Settlement.Outcome) async throws {
                let token = try await Self.lease(fixture, 1)
                try await wait()
                var request = ExchangeRequest(token.incarnation, number: 1, lease: QueueFixture.lease)
                request.settlements = [Settlement(token, Self.id, outcome)]
                #expect(try await fixture.cluster.exchange(request, in: fixture.cluster.home)?.verdicts == [.settled])
            }
            func wait() async throws {
                // Two callers are of one process, and one is of another.
                for (caller, inbox) in [(2, 0), (3, 0), (4, 1)] as [(UInt64, Int)] {
                    try await Self.expectBusy(fixture, caller, inbox: inboxes.names[inbox])
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
                _ = try await Self.lease(fixture, 1)
                try await wait()
                try await fixture.endLeases(clock)
            case .jobFetched: _ = try await fixture.settle(try await job(), QueueFixture.fetched("u"))
            case .jobHandedBack: _ = try await fixture.settle(try await job(), .handedBack)
            case .jobGivenUp: _ = try await fixture.settle(try await job(), QueueFixture.failed("u"))
            case .jobRetried: _ = try await fixture.settle(try await job(), QueueFixture.retried("u", after: .seconds(60)))
            case .reclaimed:
                _ = try await job()
                try await fixture.queue.reclaimAll()
            }
            #expect(try await inboxes.messages() == [[Self.told], [Self.told], []])
            try await fixture.expectSound()
            await inboxes.close()
        }
    }

    @Test func `a caller between two attempts of a job is told the last failure, and not when the next attempt ends`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let inboxes = try await Inboxes(fixture, ["a"])
            try await fixture.fill(0..<1)
            let job = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(job, QueueFixture.retried("u", after: .seconds(5))) == .settled)
            guard case .waits(let failure) = try await Self.acquire(fixture, 1, inbox: inboxes.names[0]) else {
                throw KitError("the caller is not told the failure")
            }
            #expect(failure.fields[.errorClass] == "timeout")
            clock.advance(by: .seconds(5))
            let again = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(again, QueueFixture.fetched("u")) == .settled)
            #expect(try await inboxes.messages() == [[]])
            guard case .fresh = try await Self.acquire(fixture, 1) else { throw KitError("the outcome is not there") }
            await inboxes.close()
        }
    }
}
