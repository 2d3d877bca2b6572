import GannetTestKit
import RedisClient

@testable import ClusterState

/// Jobs in every state, the same in every namespace, to try calls on.
///
/// The jobs are on three hosts:
/// - 0, 1, 2 and 6 are leased, and another job waits for the outcome of 0.
/// - 3 failed, and waits for its next attempt.
/// - 4 is leased to be delivered, because its outcome is there.
/// - 5, 7 and 8 are held, because their hosts had only one place each when they were met.
/// - 10 to 13 are ready.
/// - 9 is delayed.
///
/// One more URL is leased to a caller without a job.
struct Situation: Sendable {
    let batch: Int

    /// A batch without jobs.
    let open: Int
    let jobs: [Int: Job]
    let caller: LockToken

    static let callersURL = QueueFixture.id(99)
    static let nonce = Nonce(4711)

    init(_ fixture: QueueFixture) async throws {
        let queue = fixture.queue
        func claim(_ limit: Int, _ nonce: UInt64, hostLimit: Int = 1000) async throws -> [Job] {
            try await fixture.claim(limit, worker: "worker \(nonce)") {
                $0.nonce = Nonce(nonce)
                $0.host = HostRule(limit: hostLimit)
                $0.inbox = "inbox"
            }.jobs
        }
        var jobs: [Int: Job] = [:]
        func note(_ leased: [Job]) {
            for job in leased { jobs[Int(job.entry.id.bytes[7])] = job }
        }
        // A job that fails once, and a job whose outcome is there.
        batch = try await fixture.fill([3, 4], hosts: 3, batch: "first")
        let first = try await claim(2, 1)
        _ = try await fixture.settle(first[0], .retry(after: .seconds(60)))
        _ = try await fixture.settle(first[1], QueueFixture.fetched(first[1].entry.url))

        var delivery = BatchOptions()
        delivery.deliversBodies = true
        try await fixture.fill([4], hosts: 3, batch: "delivering", options: delivery)
        note(try await claim(1, 2))

        try await fixture.fill([0, 1, 2, 6, 0], hosts: 3, batch: "b")
        note(try await claim(4, 3))
        _ = try await claim(1, 4)
        // Each host has a request or two in flight.
        try await fixture.fill([5, 7, 8], hosts: 3, batch: "held")
        _ = try await claim(1, 5, hostLimit: 1)
        try await fixture.fill([10, 11, 12, 13], hosts: 3, batch: "waiting")

        let number = try await queue.begin(batch: "delayed").number
        _ = try await queue.enqueue(
            [try QueueFixture.entry(9, hosts: 3)], batch: number, from: 0, to: 1, closing: true, delay: .seconds(60))
        open = try await queue.begin(batch: "open").number
        let answer = try await fixture.cluster.acquire(
            AcquireRequest(id: Self.callersURL, nonce: Self.nonce, lease: QueueFixture.lease))
        guard case .leased(let token, _) = answer.fate else { throw KitError("nobody else asks for this URL: \(answer.fate)") }
        caller = token
        self.jobs = jobs
        guard Set(jobs.keys) == [0, 1, 2, 4, 6] else { throw KitError("these are leased: \(jobs.keys.sorted())") }
    }

    #if canImport(Glibc)
    /// Lets time pass: the next attempt and the delayed job are due, and three leases have ended. The outcome that a job waited for is
    /// there, and a newer version has written the outcome of one ready URL.
    func growLate(_ fixture: QueueFixture, _ clock: MovableClock) async throws {
        _ = try await fixture.settle(jobs[0]!, QueueFixture.fetched("http://h0/0"))
        clock.advance(by: .seconds(61))
        for number in [1, 2, 4] {
            let token = RedisArgument.bytes(jobs[number]!.token.bytes)
            try await fixture.redis.send(RedisCommand("ZADD", .string(fixture.key("expiry")), "XX", "0", token))
        }
        try await fixture.redis.send(RedisCommand("SET", .bytes(Array(fixture.key("page:").utf8) + QueueFixture.id(12).bytes), "\u{2}new"))
    }

    /// Brings every job to its end, whatever its state is.
    func finish(_ fixture: QueueFixture, _ clock: MovableClock) async throws {
        try await fixture.queue.resume()
        try await fixture.queue.reclaimAll()
        _ = try await fixture.cluster.settle([Settlement(caller, Self.callersURL, .handedBack)], random: 0)
        try await fixture.drain()
        clock.advance(by: .seconds(60))
        try await fixture.drain()
        // The leases of callers that no longer exist have to end, too.
        try await fixture.endLeases(clock)
        try await fixture.drain()
    }
    #endif
}
