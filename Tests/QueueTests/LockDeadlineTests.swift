import GannetTestKit
import Testing

@testable import GannetQueue

/// One hung request cannot hold a URL for as long as its process lives.
@Suite struct LockDeadlineTests {
    private static let longestHold = Duration.seconds(10)

    /// Time goes by, and the processes of both incarnations stay alive.
    private func pass(_ time: Duration, _ fixture: QueueFixture, _ clock: MovableClock) async throws {
        for _ in 0..<Int(time / .seconds(1)) {
            clock.advance(by: .seconds(1))
            for number in 1...2 { #expect(try await fixture.exchange(Incarnation(UInt64(number))) != nil) }
        }
    }

    private func acquire(_ fixture: QueueFixture, _ caller: UInt64, refresh: Bool = false) async throws -> AcquireAnswer.Fate {
        var request = AcquireRequest(
            id: QueueFixture.id(0), host: "h0", incarnation: Incarnation(caller), nonce: caller, lease: QueueFixture.lease)
        request.longestHold = Self.longestHold
        request.refresh = refresh
        return try await fixture.cluster.acquire(request).fate
    }

    @Test(arguments: [false, true])
    func `a job that meets a lock after its deadline takes the URL over from a living holder`(isCallers: Bool) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            for number in 1...2 { _ = try await fixture.exchange(Incarnation(UInt64(number))) }
            let token: LockToken
            if isCallers {
                guard case .leased(let own, _) = try await acquire(fixture, 1) else { throw KitError("the URL is nobody's") }
                token = own
            } else {
                try await fixture.fill([0])
                let answer = try await fixture.exchange(Incarnation(1)) {
                    $0.wanted = 1
                    $0.longestHold = Self.longestHold
                }
                token = try #require(answer?.jobs.first?.token)
            }
            try await pass(.seconds(9), fixture, clock)
            try await fixture.fill([0], batch: "early")
            let early = try await fixture.exchange(Incarnation(2)) { $0.wanted = 1 }
            #expect(early?.jobs.isEmpty == true)
            try await pass(.seconds(1), fixture, clock)
            try await fixture.fill([0], batch: "late")
            var jobs: [Job] = []
            for _ in 0..<3 where jobs.isEmpty { jobs = try await fixture.exchange(Incarnation(2)) { $0.wanted = 1 }?.jobs ?? [] }
            let job = try #require(jobs.first)
            #expect(job.id == QueueFixture.id(0) && job.crashes == 0 && job.failures == 0)
            #expect(try await fixture.running() == ["h0": 1])
            // The hung request ends after all: it was fetched twice.
            #expect(try await fixture.settle(token, job.id, QueueFixture.fetched(job.url)) == .fenced)
            #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled)
            #expect(try await fixture.drain() == [])
            try await fixture.expectEnded()
        }
    }

    @Test(arguments: [false, true])
    func `a job that follows a URL takes it over at the deadline of a living holder, and nobody else has to come`(
        isCallers: Bool
    ) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            for number in 1...2 { _ = try await fixture.exchange(Incarnation(UInt64(number))) }
            if isCallers {
                guard case .leased = try await acquire(fixture, 1) else { throw KitError("the URL is nobody's") }
                try await fixture.fill([0])
            } else {
                try await fixture.fill([0, 0])
                let first = try await fixture.exchange(Incarnation(1)) {
                    $0.wanted = 1
                    $0.longestHold = Self.longestHold
                }
                #expect(first?.jobs.count == 1)
            }
            #expect(try await fixture.exchange(Incarnation(2)) { $0.wanted = 1 }?.jobs.isEmpty == true)
            #expect(try await fixture.queue.counts().parked == 1)
            try await pass(.seconds(9), fixture, clock)
            #expect(try await fixture.exchange(Incarnation(2)) { $0.wanted = 1 }?.jobs.isEmpty == true)
            try await pass(.seconds(1), fixture, clock)
            var jobs: [Job] = []
            for _ in 0..<3 where jobs.isEmpty { jobs = try await fixture.exchange(Incarnation(2)) { $0.wanted = 1 }?.jobs ?? [] }
            #expect(jobs.map(\.id) == [QueueFixture.id(0)] && jobs.map(\.crashes) == [0])
            try await fixture.expectSound()
        }
    }

    @Test func `a job that stood aside goes on where the URL's request of a caller hangs meanwhile`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            for number in 1...2 { _ = try await fixture.exchange(Incarnation(UInt64(number))) }
            try await fixture.fill([0])
            let first = try #require(try await fixture.exchange(Incarnation(1)) { $0.wanted = 1 }?.jobs.first)
            clock.advance(by: .milliseconds(1))
            var options = BatchOptions()
            options.refresh = true
            try await fixture.fill([0], batch: "later", options: options)
            #expect(try await fixture.exchange(Incarnation(2)) { $0.wanted = 1 }?.jobs.isEmpty == true)
            try await fixture.fill(1..<3, batch: "others")
            #expect(try await fixture.exchange(Incarnation(2)) { $0.wanted = 2 }?.jobs.count == 2)
            #expect(try await fixture.settle(first, QueueFixture.fetched(first.url)) == .settled)
            // The outcome is too old for the follower, and its host is full.
            let full = try await fixture.exchange(Incarnation(2)) { ($0.wanted, $0.host) = (1, HostRule(limit: 1, first: 1000)) }
            #expect(full?.jobs.isEmpty == true)
            guard case .leased = try await acquire(fixture, 1, refresh: true) else { throw KitError("the URL is somebody's") }
            try await pass(.seconds(31), fixture, clock)
            var jobs: [Job] = []
            for _ in 0..<3 where jobs.isEmpty { jobs = try await fixture.exchange(Incarnation(2)) { $0.wanted = 1 }?.jobs ?? [] }
            #expect(jobs.map(\.id) == [QueueFixture.id(0)])
            try await fixture.expectSound()
        }
    }

    @Test(arguments: [false, true])
    func `a caller that meets a lock after its deadline takes the URL over from a living holder`(isCallers: Bool) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            for number in 1...2 { _ = try await fixture.exchange(Incarnation(UInt64(number))) }
            var job: Job?
            if isCallers {
                guard case .leased = try await acquire(fixture, 1) else { throw KitError("the URL is nobody's") }
            } else {
                try await fixture.fill([0])
                job = try await fixture.exchange(Incarnation(1)) {
                    $0.wanted = 1
                    $0.longestHold = Self.longestHold
                }?.jobs.first
                #expect(job != nil)
            }
            try await pass(.seconds(9), fixture, clock)
            guard case .busy = try await acquire(fixture, 2) else { throw KitError("the deadline is not over") }
            try await pass(.seconds(1), fixture, clock)
            guard case .leased(let token, _) = try await acquire(fixture, 2) else { throw KitError("the deadline is over") }
            #expect(token.incarnation == Incarnation(2))
            #expect(try await fixture.settle(token, QueueFixture.id(0), QueueFixture.fetched("http://h0/0")) == .settled)
            if let job { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .fenced) }
            // The job that hung is delivered with the caller's outcome.
            #expect(try await fixture.drain() == [])
            let counts = try await fixture.queue.counts()
            #expect(counts.done == (isCallers ? 0 : 1) && counts.crashed == 0)
            try await fixture.expectEnded()
        }
    }
}
