import GannetTestKit
import Testing

@testable import GannetQueue

/// A worker that is killed leaves everything to the others, who do nothing but call.
@Suite struct KilledWorkerTests {
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

    @Test func `a URL that three workers died with is given up without a place at its host, beside other jobs`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            #expect(try await fixture.claim(1, hostLimit: 1, worker: "alive").jobs.count == 1)
            try await fixture.fill([1], batch: "deadly")
            for crashes in 0..<3 {
                #expect(try await fixture.claim(1, worker: "dies \(crashes)").jobs.map(\.crashes) == [crashes])
                for _ in 0..<10 {
                    clock.advance(by: .seconds(5))
                    _ = try await fixture.claim(0, hostLimit: 1, worker: "alive")
                }
            }
            let jobs = try await fixture.claim(1, hostLimit: 1, worker: "alive").jobs
            #expect(jobs.map(\.id) == [QueueFixture.id(1)] && jobs.allSatisfy { $0.isPoison })
            let running = try await fixture.running()
            #expect(running.values.reduce(0, +) == 1, "\(running)")
            try await fixture.expectSound()
        }
    }

    @Test func `a URL that is handed back stays a suspect`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            for crashes in 0..<2 {
                #expect(try await fixture.claim(1).jobs.map(\.crashes) == [crashes])
                try await fixture.endLeases(clock)
            }
            let suspect = try #require(try await fixture.claim(1, worker: "stops").jobs.first)
            try await fixture.fill([1], batch: "other")
            #expect(try await fixture.claim(1, worker: "busy").jobs.map(\.id) == [QueueFixture.id(1)])
            #expect(try await fixture.settle(suspect, .handedBack) == .settled)
            // Two workers died with it, so it goes to one that has nothing else.
            #expect(try await fixture.claim(1, worker: "busy").jobs.isEmpty)
            let again = try await fixture.claim(1, worker: "idle").jobs
            #expect(again.map(\.id) == [QueueFixture.id(0)] && again.map(\.crashes) == [2])
            try await fixture.expectSound()
        }
    }

    @Test func `each job of a dead worker is charged, and a URL with two crashes goes to a worker that has nothing else`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            #expect(try await fixture.claim(1, worker: "first").jobs.count == 1)
            try await fixture.endLeases(clock)
            try await fixture.fill(1..<6, batch: "long")
            // This one lives on. The URL that a worker died with comes first.
            let long = try await fixture.claim(2, worker: "alive").jobs
            #expect(try await fixture.settle(long[0], .handedBack) == .settled)
            try await fixture.fill(6..<25, batch: "others")
            let second = try await fixture.claim(20, worker: "second").jobs
            #expect(second.count == 20 && second.count { $0.crashes == 1 } == 1)
            for _ in 0..<10 {
                clock.advance(by: .seconds(5))
                _ = try await fixture.claim(0, worker: "alive")
            }
            #expect(try await fixture.queue.counts().crashed == 21)
            // The URL with two crashes is not for a worker that has another job, and that one gets no more until it has none.
            var answer = try await fixture.claim(4, worker: "alive")
            #expect(answer.jobs.allSatisfy { $0.crashes < 2 })
            let held = [long[1]] + answer.jobs
            #expect(try await fixture.claim(20, worker: "alive").jobs.isEmpty)
            answer = try await fixture.claim(20, worker: "alive") {
                $0.settlements = held.map { Settlement($0.token, $0.id, QueueFixture.fetched($0.url), host: .answered) }
            }
            #expect(answer.jobs.map(\.id) == [QueueFixture.id(0)] && answer.jobs.map(\.crashes) == [2])
            let alone = try #require(answer.jobs.first)
            #expect(try await fixture.claim(20, worker: "alive").jobs.isEmpty)
            answer = try await fixture.claim(20, worker: "alive") {
                $0.settlements = [Settlement(alone.token, alone.id, QueueFixture.fetched(alone.url), host: .answered)]
            }
            #expect(!answer.jobs.isEmpty)
            try await fixture.expectSound()
        }
    }

    @Test func `in each queue one worker takes no more jobs, so that it may take a URL with two crashes`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let other = QueueFixture(
                redis: fixture.redis, cluster: fixture.cluster, queue: fixture.cluster.queue("other"), namespace: fixture.namespace)
            let queues = [fixture, other]
            var busy: [[Job]] = []
            for (index, queue) in queues.enumerated() {
                try await queue.fill([index * 10])
                busy.append(try await queue.claim(1, worker: "alive \(index)").jobs)
                try await queue.fill([index * 10 + 1], batch: "deadly")
            }
            for death in 0..<2 {
                for (index, queue) in queues.enumerated() {
                    #expect(try await queue.claim(1, worker: "dies \(death) \(index)").jobs.map(\.crashes) == [death])
                }
                for _ in 0..<10 {
                    clock.advance(by: .seconds(5))
                    for (index, queue) in queues.enumerated() { _ = try await queue.claim(0, worker: "alive \(index)") }
                }
            }
            for (index, queue) in queues.enumerated() {
                try await queue.fill([index * 10 + 2, index * 10 + 3], batch: "later")
                // The first look meets the URL with two crashes.
                busy[index] += try await queue.claim(1, worker: "alive \(index)").jobs
                #expect(try await queue.claim(1, worker: "alive \(index)").jobs.isEmpty)
            }
            for (index, queue) in queues.enumerated() {
                let next = try await queue.claim(1, worker: "alive \(index)") {
                    $0.settlements = busy[index].map { Settlement($0.token, $0.id, QueueFixture.fetched($0.url), host: .answered) }
                }
                #expect(next.jobs.map(\.id) == [QueueFixture.id(index * 10 + 1)] && next.jobs.map(\.crashes) == [2])
            }
        }
    }

    @Test func `where the worker dies that takes no more jobs for a URL with two crashes, another takes no more`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<2)
            for worker in ["first", "second"] { #expect(try await fixture.claim(1, worker: worker).jobs.count == 1) }
            try await fixture.fill([2], batch: "deadly")
            func pass(_ workers: [String]) async throws {
                for _ in 0..<10 {
                    clock.advance(by: .seconds(5))
                    for worker in workers { _ = try await fixture.claim(0, worker: worker) }
                }
            }
            for death in 0..<2 {
                #expect(try await fixture.claim(1, worker: "dies \(death)").jobs.map(\.crashes) == [death])
                try await pass(["first", "second"])
            }
            try await fixture.fill(3..<10, batch: "later")
            // The first look meets the URL with two crashes.
            #expect(try await fixture.claim(1, worker: "first").jobs.count == 1)
            #expect(try await fixture.claim(1, worker: "first").jobs.isEmpty)
            #expect(try await fixture.claim(1, worker: "second").jobs.count == 1)
            try await pass(["second"])
            #expect(try await fixture.claim(1, worker: "second").jobs.isEmpty)
        }
    }

    @Test(arguments: 1...4)
    func `however many URLs kill their workers, they alone are given up`(killers: Int) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<120)
            let deadly = Set((0..<killers).map { QueueFixture.id($0 * 37) })
            var deaths = 0
            for round in 0..<2000 where try await !fixture.queue.counts().isEmpty {
                let jobs = try await fixture.claim(32, worker: "w\(deaths) \(round % 2)").jobs
                if jobs.contains(where: { deadly.contains($0.id) && !$0.isPoison }) {
                    deaths += 1
                    try await fixture.endLeases(clock)
                } else {
                    for job in jobs {
                        let outcome = job.isPoison ? QueueFixture.failed(job.url) : QueueFixture.fetched(job.url)
                        #expect(try await fixture.settle(job, outcome) == .settled)
                        #expect(deadly.contains(job.id) || job.crashes <= 2)
                    }
                }
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == killers && counts.done == 120 - killers && deaths <= 3 * killers, "\(deaths) deaths")
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
}
