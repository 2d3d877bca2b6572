import GannetTestKit
import Testing

@testable import ClusterState

/// A worker that is killed leaves everything to the others, who do nothing but call.
@Suite struct KilledWorkerTests {
    #if canImport(Glibc)
    @Test func `jobs of a killed process are handed out again at lease end, each charged once, eight suspects to a worker`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<64, hosts: 8)
            let worker = try await StateWorkerProcess(fixture, jobs: 64, lease: .milliseconds(600), hostLimit: 8)
            // The same URLs once more, so that other jobs wait for them.
            try await fixture.fill(0..<64, hosts: 8, batch: "followers")
            #expect(try await fixture.claim(64, hostLimit: 16).jobs.isEmpty)
            #expect(try await fixture.queue.counts().parked == 64)
            try await worker.kill9()

            var held: [String: [Job]] = [:]
            var again: [URLID] = []
            var rounds = 0
            try await eventually("all jobs of the killed process have ended") {
                var next = Duration.seconds(5)
                var isMore = false
                for name in ["one", "two", "three"] {
                    let answer = try await fixture.claim(64, hostLimit: 8, worker: name)
                    held[name, default: []] += answer.jobs
                    again += answer.jobs.filter { $0.outcome == nil }.map(\.id)
                    #expect(answer.jobs.allSatisfy { $0.outcome != nil || $0.crashes == 1 })
                    #expect(held[name, default: []].count { $0.outcome == nil } <= 8)
                    isMore = isMore || answer.isMore || !answer.jobs.isEmpty
                    next = min(next, answer.next ?? next)
                }
                let running = try await fixture.running()
                #expect(running.values.allSatisfy { $0 <= 8 })
                rounds += 1
                // In every other round all ask again while they hold a suspect.
                if rounds.isMultiple(of: 2) {
                    for job in held.values.joined() {
                        let outcome = job.outcome == nil ? QueueFixture.fetched(job.url) : .delivered
                        guard try await fixture.settle(job, outcome) == .settled else { throw KitError("\(job.url) was lost") }
                    }
                    held = [:]
                }
                if !isMore { clock.advance(by: next) }
                return try await fixture.queue.counts().isEmpty
            }
            #expect(again.count == 64 && Set(again).count == 64)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 128 && counts.fetched == 64 && counts.cached == 64)
            #expect(counts.crashed == 64 && counts.failed == 0)
            try await fixture.expectEnded()
        }
    }

    @Test func `a URL that three workers died with is handed out as poison, and its followers end with it`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<1)
            try await fixture.fill(0..<1, batch: "follower")
            for crashes in 0..<3 {
                let jobs = try await fixture.claim(10).jobs
                #expect(jobs.map(\.id) == [QueueFixture.id(0)] && jobs.map(\.crashes) == [crashes] && !jobs[0].isPoison)
                try await fixture.endLeases(clock)
            }
            let poison = try #require(try await fixture.claim(10).jobs.first)
            #expect(poison.isPoison)
            #expect(try await fixture.settle(poison, QueueFixture.failed(poison.url), host: .none) == .settled)
            let follower = try #require(try await fixture.claim(10).jobs.first)
            #expect(follower.outcome?.isNegative == true)
            #expect(try await fixture.settle(follower, QueueFixture.failed(follower.url), host: .none) == .settled)
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == 2 && counts.dead == 2 && counts.isEmpty && counts.crashed == 3)
            try await fixture.expectEnded()
        }
    }

    @Test func `a worker that dies with a suspect is charged with that alone, and any outcome clears the suspicion`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            #expect(try await fixture.claim(1, worker: "first").jobs.count == 1)
            try await fixture.endLeases(clock)
            try await fixture.fill(1..<20, batch: "others")
            let second = try await fixture.claim(20, worker: "second").jobs
            #expect(second.count == 20 && second.count { $0.crashes == 1 } == 1)
            try await fixture.endLeases(clock)
            #expect(try await fixture.queue.counts().crashed == 2)
            let third = try await fixture.claim(20, worker: "third").jobs
            #expect(third.count == 20 && third.map(\.crashes).sorted() == [Int](repeating: 0, count: 19) + [2])
            let suspect = try #require(third.first { $0.crashes == 2 })
            #expect(suspect.id == QueueFixture.id(0))
            #expect(try await fixture.settle(suspect, QueueFixture.retried(suspect.url, after: .zero)) == .settled)
            // The worker dies, and had no suspect: all that it held are charged.
            try await fixture.endLeases(clock)
            #expect(try await fixture.queue.counts().crashed == 2 + 19)
            let next = try await fixture.claim(20, worker: "fourth").jobs
            #expect(next.map(\.crashes).sorted() == [Int](repeating: 1, count: 8) + [2], "eight suspects, and the URL that failed since")
            try await fixture.expectSound()
        }
    }

    @Test func `a suspect whose host was full is handed out by the exchange that frees a place`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            #expect(try await fixture.claim(1, worker: "dead").jobs.count == 1)
            try await fixture.fill([1], batch: "other")
            let other = try #require(try await fixture.claim(1, worker: "alive").jobs.first)
            for _ in 0..<8 {
                clock.advance(by: .seconds(5))
                #expect(try await fixture.claim(1, hostLimit: 1, worker: "alive").jobs.isEmpty)
            }
            #expect(try await fixture.queue.counts().crashed == 1)
            let next = try await fixture.claim(1, hostLimit: 1, worker: "alive") {
                $0.settlements = [Settlement(other.token, other.id, QueueFixture.fetched(other.url), host: .answered)]
            }
            #expect(next.jobs.map(\.id) == [QueueFixture.id(0)])
        }
    }
    #endif
}
