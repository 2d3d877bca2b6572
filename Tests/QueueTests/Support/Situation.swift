import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

/// Jobs in every state, the same in every namespace, to try calls on.
///
/// The jobs are on three hosts:
/// - 0, 1, 2 and 6 are locked, and another job waits for the outcome of 0.
/// - 3 failed, and waits for its next attempt.
/// - 4 is held to be delivered, because its outcome is there.
/// - 5, 7 and 8 stand aside, because their hosts had only one place each when they were met.
/// - 10 to 13 are ready.
/// - 9 is delayed.
///
/// A caller without a job has locked one more URL.
struct Situation: Sendable {
    let batch: Int

    /// A batch without jobs.
    let open: BatchProgress
    let jobs: [Int: Job]
    let caller: LockToken

    static let callersURL = QueueFixture.id(99)
    static let callersNonce: UInt64 = 4711
    static let callersProcess = Incarnation(99)

    /// The number of the exchange that a test makes next. Scripts look at the types of their keys in every sixty-fourth exchange.
    static let nextExchange = 65

    static func request(of worker: UInt64, _ wanted: Int, number: Int = 1, hostLimit: Int = 1000) -> ExchangeRequest {
        var request = ExchangeRequest(Incarnation(worker), number: number, lease: QueueFixture.lease)
        request.wanted = wanted
        request.host = HostRule(limit: hostLimit, first: 1000)
        request.inbox = "inbox"
        request.random = 0.5
        return request
    }

    static func acquire(_ id: URLID, nonce: UInt64, of process: Incarnation) -> AcquireRequest {
        AcquireRequest(id: id, host: "h", incarnation: process, nonce: nonce, lease: QueueFixture.lease)
    }

    init(_ fixture: QueueFixture) async throws {
        let queue = fixture.queue
        func exchange(_ request: ExchangeRequest) async throws -> [Job] {
            guard let answer = try await queue.exchange(request, in: fixture.cluster.home) else { throw KitError("a lease has ended") }
            return answer.jobs
        }
        func claim(_ wanted: Int, _ worker: UInt64, hostLimit: Int = 1000) async throws -> [Job] {
            try await exchange(Self.request(of: worker, wanted, hostLimit: hostLimit))
        }
        var jobs: [Int: Job] = [:]
        func note(_ held: [Job]) {
            for job in held { jobs[Int(job.id.bytes[7])] = job }
        }
        // A job that fails once, and a job whose outcome is there.
        batch = try await fixture.fill([3, 4], hosts: 3, batch: "first")
        var request = Self.request(of: 1, 0, number: 2)
        for job in try await claim(2, 1) {
            let isThird = job.id == QueueFixture.id(3)
            let outcome = isThird ? QueueFixture.retried(job.url, after: .seconds(60)) : QueueFixture.fetched(job.url)
            request.settlements.append(Settlement(job.token, job.id, outcome, host: .answered))
        }
        _ = try await exchange(request)
        try await fixture.fill([4], hosts: 3, batch: "delivering")
        note(try await claim(1, 2))

        try await fixture.fill([0, 1, 2, 6, 0], hosts: 3, batch: "b")
        note(try await claim(4, 3))
        _ = try await claim(1, 4)
        // Each host has a request or two in flight.
        try await fixture.fill([5, 7, 8], hosts: 3, batch: "aside")
        _ = try await claim(1, 5, hostLimit: 1)
        try await fixture.fill([10, 11, 12, 13], hosts: 3, batch: "waiting")

        var delayed = BatchOptions()
        delayed.delay = .seconds(60)
        try await fixture.fill([9], hosts: 3, batch: "delayed", options: delayed)
        open = try await queue.begin(batch: "open")
        let answer = try await fixture.cluster.acquire(
            Self.acquire(Self.callersURL, nonce: Self.callersNonce, of: Self.callersProcess))
        guard case .leased(let token, _) = answer.fate else { throw KitError("nobody else asks for this URL: \(answer.fate)") }
        caller = token
        self.jobs = jobs
        guard Set(jobs.keys) == [0, 1, 2, 4, 6] else { throw KitError("these are held: \(jobs.keys.sorted())") }
    }

    /// Lets time pass: the next attempt and the delayed job are due, and all leases have ended. The outcome that a job waited for is there.
    func growLate(_ fixture: QueueFixture, _ clock: MovableClock) async throws {
        _ = try await StateCall.settleFetched.make(fixture, self)
        for _ in 0..<7 {
            clock.advance(by: .seconds(9))
            // Lease time goes on while somebody calls. This caller takes nothing back.
            _ = try await fixture.queue.begin(batch: "passer-by")
        }
    }

    /// Brings every job to its end, whatever its state is.
    func finish(_ fixture: QueueFixture, _ clock: MovableClock) async throws {
        try await fixture.queue.resume()
        try await fixture.queue.reclaimAll()
        _ = try await fixture.settle(caller, Self.callersURL, .handedBack, from: Incarnation(100))
        try await fixture.drain()
        clock.advance(by: .seconds(60))
        try await fixture.drain()
        // The leases of callers that no longer exist have to end, too.
        try await fixture.endLeases(clock)
        try await fixture.drain()
    }
}
