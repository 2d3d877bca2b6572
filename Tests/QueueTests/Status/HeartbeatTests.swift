import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// The heartbeats of workers, and what Redis keeps of them.
@Suite struct HeartbeatTests {
    @Test func `an overview has each worker's last record, and when it came`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            _ = try await fixture.queue.beat("a", .ofTest("one"))
            clock.advance(by: .seconds(3))
            _ = try await fixture.queue.beat("b", .ofTest("two", active: 0))
            clock.advance(by: .seconds(2))
            _ = try await fixture.queue.beat("a", .ofTest("one", active: 7))
            let overview = try await fixture.queue.overview()
            #expect(overview.workers.map(\.id) == ["a", "b"])
            #expect(overview.workers.map(\.heartbeat) == [.zero, .seconds(2)])
            #expect(overview.workers[0].record == .ofTest("one", active: 7))
            #expect(overview.workers[1].record == .ofTest("two", active: 0))
        }
    }

    @Test func `a worker that left is no longer listed, and a worker that died is listed for ten minutes`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            for name in ["leaving", "dying"] { _ = try await fixture.queue.beat(name, .ofTest) }
            try await fixture.queue.leave("leaving")
            #expect(try await fixture.queue.overview().workers.map(\.id) == ["dying"])
            clock.advance(by: .seconds(600))
            #expect(try await fixture.queue.overview().workers.map(\.id) == ["dying"])
            clock.advance(by: .milliseconds(1))
            #expect(try await fixture.queue.overview().workers == [])
            // The next heartbeat of another worker clears the record away.
            _ = try await fixture.queue.beat("living", .ofTest)
            let fields = try await fixture.redis.send(RedisCommand("HKEYS", .string(fixture.key(queue: "queue")))).asArray()
            #expect(try fields.map { try $0.asString() }.filter { $0.hasPrefix("worker:") } == ["worker:living"])
        }
    }

    @Test func `a wish to drain reaches its worker with each heartbeat, and goes with the worker`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let queue = fixture.queue
            func isTold(_ worker: String) async throws -> Bool {
                var isTold = false
                _ = try await queue.beat(worker, .ofTest) { isTold = true }
                return isTold
            }
            func wishes() async throws -> [String] {
                let fields = try await fixture.redis.send(RedisCommand("HKEYS", .string(fixture.key(queue: "queue")))).asArray()
                return try fields.map { try $0.asString() }.filter { $0.hasPrefix("drain:") }
            }
            #expect(try await queue.drain(["a"]) == ["a"])
            for name in ["a", "b"] { #expect(try await !isTold(name)) }
            // Nobody is asked where one name is unknown.
            #expect(try await queue.drain(["a", "c"]) == ["c"])
            #expect(try await !isTold("a"))
            #expect(try await queue.drain(["a"]) == [])
            // A heartbeat whose answer is lost does not lose the wish.
            for _ in 0..<2 { #expect(try await isTold("a")) }
            #expect(try await !isTold("b"))
            #expect(try await queue.workers().filter(\.isDraining).map(\.id) == ["a"])
            try await queue.leave("a")
            #expect(try await wishes() == [])
            #expect(try await !isTold("a"), "the wish was for an earlier worker of this name")

            // A worker that was killed, and whose record is forgotten.
            #expect(try await queue.drain(["b"]) == [])
            clock.advance(by: .milliseconds(600_001))
            #expect(try await !isTold("a"))
            #expect(try await wishes() == [])
            #expect(try await !isTold("b"))
        }
    }

    @Test func `a worker tells for how long it runs, how fast it is, and which partitions it works on`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            var record = WorkerRecord.ofTest
            record.hostLimit = 8
            (record.age, record.ended, record.partitions) = (.seconds(4000), 40, [0, 7, 63])
            _ = try await fixture.queue.beat("a", record)
            clock.advance(by: .seconds(5))
            let listed = try await fixture.queue.workers()
            #expect(listed.map(\.record) == [record])
            #expect(listed.first?.record?.endedPerSecond == 8)
            #expect(listed.first?.age == .seconds(4005))
            #expect(try await fixture.cluster.queuesWithWorkers() == [fixture.queue.name])
            // The requests of a moment are no rate.
            record.interval = .seconds(2)
            #expect(record.endedPerSecond == nil)
        }
    }

    @Test func `no more than a thousand workers of a queue are kept`() async throws {
        try await QueueFixture.with { fixture in
            for number in 0..<1100 { _ = try await fixture.queue.beat("w\(number)", .ofTest) }
            #expect(try await fixture.queue.overview().workers.count == 1000)
            for number in 0..<100 { try await fixture.queue.leave("w\(number)") }
            _ = try await fixture.queue.beat("late", .ofTest)
            #expect(try await fixture.queue.overview().workers.first?.id == "late")
        }
    }

    @Test func `the history has a sample for each few seconds, and ends after a quarter of an hour`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<50)
            for _ in 0..<20 {
                if let job = try await fixture.claim(1).jobs.first {
                    _ = try await fixture.settle(job, QueueFixture.fetched(job.entry.url), bytes: 100)
                }
                let progress = try await fixture.queue.beat("a", .ofTest)
                #expect(progress.accepted == 50)
                clock.advance(by: .seconds(1))
            }
            let history = try await fixture.queue.overview().samples
            #expect(history.map(\.done) == [1, 5, 9, 13, 17])
            #expect(history.map(\.bytes) == [100, 500, 900, 1300, 1700])
            #expect(history.map(\.open) == [49, 45, 41, 37, 33])
            #expect(zip(history, history.dropFirst()).allSatisfy { $1.time - $0.time == 4000 })
            for _ in 0..<200 {
                clock.advance(by: .seconds(5))
                _ = try await fixture.queue.beat("a", .ofTest)
            }
            #expect(try await fixture.queue.overview().samples.count == 180)
        }
    }

    @Test func `an overview counts the requests in flight at hosts now, not those of earlier heartbeats`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<8, hosts: 2)
            let jobs = try await fixture.claim(4).jobs
            var record = WorkerRecord.ofTest
            record.hostLimit = 8
            record.hosts = ["h0", "h1", "h2"].map {
                HostLoad(name: $0, running: 9, longest: .zero, finished: 0, failed: 0, average: .zero)
            }
            _ = try await fixture.queue.beat("a", record)
            #expect(try await fixture.queue.overview().standings.mapValues(\.running) == ["h0": 4, "h1": 0, "h2": 0])
            _ = try await fixture.settle(jobs[0], .handedBack)
            #expect(try await fixture.queue.overview().standings.mapValues(\.running) == ["h0": 3, "h1": 0, "h2": 0])
            // A rest by itself, and one by an operator's rule, which has a limit as well.
            _ = try await fixture.settle(jobs[1], QueueFixture.throttled(jobs[1].url, for: .seconds(20)))
            try await fixture.cluster.set(OperatorRule("h2", limit: 3, pause: .seconds(60)))
            let hosts = try await fixture.queue.overview().hosts
            let resting = try #require(hosts.first { $0.name == jobs[1].host })
            #expect(resting.rest.map { $0 > .seconds(10) && $0 <= .seconds(20) } == true && resting.limit == 8 && !resting.isGivenUp)
            let ruled = try #require(hosts.first { $0.name == "h2" })
            #expect(ruled.rest.map { $0 > .seconds(50) && $0 <= .seconds(60) } == true && ruled.limit == 3)
        }
    }

    @Test func `a host that holds jobs back stands before busy ones, also when no worker tells of it`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<12, hosts: 4)
            let first = try await fixture.claim(12, hostLimit: 1).jobs
            _ = try await fixture.settle(first[0], QueueFixture.throttled(first[0].url, for: .seconds(600)))
            _ = try await fixture.claim(12, hostLimit: 1)
            var record = WorkerRecord.ofTest
            record.hosts = [HostLoad(name: first[1].host, running: 1, longest: .zero, finished: 90, failed: 0, average: .zero)]
            _ = try await fixture.queue.beat("a", record)
            let hosts = try await fixture.queue.overview().hosts
            #expect(hosts.map(\.name) == [first[0].host, first[1].host] && hosts[0].rest.map { $0 > .seconds(500) } == true)
        }
    }

    @Test func `heartbeats and overviews tell how many jobs wait for hosts, for how many hosts, and for their time`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<12, hosts: 4)
            // One job of each host is in flight. A claim that comes then finds all others held.
            let first = try await fixture.claim(12, hostLimit: 1).jobs
            _ = try await fixture.claim(12, hostLimit: 1)
            var progress = try await fixture.queue.beat("a", .ofTest)
            var waits = QueueWaits(held: 8, hosts: 4)
            waits.patience = WorkerRecord.ofTest.patience
            waits.patience?.age = WorkerRecord.ofTest.age
            #expect(progress.waits == waits)
            #expect(try await fixture.queue.overview().waits == progress.waits)
            _ = try await fixture.settle(first[0], QueueFixture.retried(first[0].url, after: .seconds(60)))
            progress = try await fixture.queue.beat("a", .ofTest)
            #expect(progress.waits.delayed == 1 && progress.ended == 0)
        }
    }

    @Test func `heartbeats tell of URLs that wait for their next attempt, and of URLs that another queue's worker fetches`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0, 1])
            let jobs = try await fixture.claim(2).jobs
            let (retried, fetched) = (jobs[0], jobs[1])
            _ = try await fixture.settle(retried, QueueFixture.retried(retried.url, after: .seconds(60)))
            let waits = try await fixture.queue.beat("a", .ofTest).waits
            #expect(waits.retries == [WaitingHost(name: "h0", errorClass: "timeout", rest: .seconds(60))])
            #expect(waits.delayed == 1 && waits.parked == 0 && waits.parkedUntil == nil)

            let other = fixture.cluster.queue("other")
            var progress = try await other.begin(batch: "b")
            _ = try await other.enqueue([(entry: fetched.entry, row: 1)], to: 1, of: &progress, closing: true)
            var request = ExchangeRequest(Incarnation(7), number: 1, lease: QueueFixture.lease)
            request.wanted = 8
            #expect(try await other.exchange(request, in: fixture.cluster.home)?.jobs.isEmpty == true)
            let overview = try await other.overview()
            #expect(overview.waits.parked == 1 && overview.waits.total == 1 && overview.waits.retries.isEmpty)
            #expect(overview.waits.parkedUntil.map { $0 > overview.now } == true)
        }
    }

    @Test func `heartbeats and overviews tell of all partitions`() async throws {
        try await QueueFixture.with(partitions: 4) { fixture in
            try await fixture.fill(0..<60, hosts: 12)
            #expect(try await fixture.claimAll(12, hostLimit: 1).count == 12)
            let progress = try await fixture.queue.beat("a", .ofTest)
            var waits = QueueWaits(held: 48, hosts: 12)
            waits.patience = WorkerRecord.ofTest.patience
            waits.patience?.age = WorkerRecord.ofTest.age
            #expect(progress.accepted == 60 && progress.ended == 0 && progress.waits == waits)
            let overview = try await fixture.queue.overview()
            // The worker is older now.
            #expect(overview.waits.patience?.age.map { $0 >= WorkerRecord.ofTest.age } == true)
            waits = overview.waits
            waits.patience?.age = WorkerRecord.ofTest.age
            #expect(waits == progress.waits && overview.counts.active == 12 && overview.counts.ready == 48)
            #expect(overview.samples.map(\.open) == [60])
        }
    }

    @Test func `a cleared queue has no workers and no past`() async throws {
        try await QueueFixture.with { fixture in
            _ = try await fixture.queue.beat("a", .ofTest)
            try await fixture.queue.clear()
            let overview = try await fixture.queue.overview()
            #expect(overview.workers == [] && overview.samples == [])
        }
    }

    @Test func `other queues are named while they have workers or jobs, for ten minutes after the last heartbeat`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<3)
            let other = fixture.cluster.queue("other")
            let seen = { () async throws -> [OtherQueue] in try await other.overview().others }
            #expect(try await seen() == [], "nobody has worked on it yet")
            for name in ["a", "b"] { _ = try await fixture.queue.beat(name, .ofTest) }
            _ = try await other.beat("c", .ofTest)
            #expect(try await seen() == [OtherQueue(name: fixture.queue.name, open: 3, workers: 2)])
            #expect(try await fixture.queue.overview().others == [OtherQueue(name: "other", open: 0, workers: 1)])
            try await fixture.queue.leave("a")
            try await other.leave("c")
            #expect(try await fixture.queue.overview().others == [], "it is empty, and nobody is there")
            clock.advance(by: .seconds(16))
            #expect(try await seen() == [OtherQueue(name: fixture.queue.name, open: 3, workers: 0)])
            clock.advance(by: .seconds(585))
            #expect(try await seen() == [])
            _ = try await fixture.queue.beat("b", .ofTest)
            try await fixture.queue.clear()
            #expect(try await seen() == [])
        }
    }

    @Test func `a namespace remembers the hundred queues heard of last, and an overview names eight`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            for number in 0..<110 {
                _ = try await fixture.cluster.queue("many\(number)").beat("w", .ofTest)
                clock.advance(by: .milliseconds(1))
            }
            let fields = try await fixture.redis.send(RedisCommand("HKEYS", .string(fixture.key("state")))).asArray()
            #expect(try fields.filter { try $0.asString().hasPrefix("queue:") }.count == 100)
            let names = try await fixture.queue.overview().others.map(\.name)
            #expect(names == (102..<110).reversed().map { "many\($0)" })
            // Foreign values in the keys of one queue do not keep people from looking at another.
            try await fixture.redis.send(RedisCommand("SET", .string(fixture.key("q:many109:queue")), "somebody else's"))
            #expect(try await fixture.queue.overview().others.map(\.name).first == "many108")
        }
    }

    @Test func `a worker whose record cannot be read is listed`() async throws {
        try await QueueFixture.with { fixture in
            _ = try await fixture.queue.beat("a", .ofTest)
            let key = RedisArgument.string(fixture.key(queue: "queue"))
            let record = Array(try await fixture.redis.send(RedisCommand("HGET", key, "worker:a")).asBytes().prefix(6))
            try await fixture.redis.send(RedisCommand("HSET", .string(fixture.key(queue: "queue")), "worker:a", .bytes(record + [2, 1])))
            let workers = try await fixture.queue.overview().workers
            #expect(workers.map(\.id) == ["a"])
            #expect(workers[0].record == nil)
        }
    }

    @Test func `a record is read as it was written, cut where it is too long, and never past its end`() {
        var record = WorkerRecord.ofTest(String(repeating: "m", count: 300))
        record.hosts = (0..<20).map {
            HostLoad(name: "h\($0)", running: 70_000, longest: .seconds(1), finished: 1, failed: 1, average: .zero)
        }
        let bytes = record.bytes
        let read = WorkerRecord(bytes)
        #expect(read?.machine == String(repeating: "m", count: 255))
        #expect(read?.hosts.map(\.name) == (0..<8).map { "h\($0)" })
        #expect(read?.hosts.first?.running == 65_535)
        for length in bytes.indices { #expect(WorkerRecord(Array(bytes[..<length])) == nil) }

        record.hosts = []
        record.hostLimit = 8
        (record.age, record.ended, record.partitions) = (.seconds(9), 7, [1, 3])
        record.patience = WaitPatience(silence: .zero, rests: .seconds(365 * 86_400))
        record.lease = .seconds(86_400)
        record.machine = "m"
        #expect(WorkerRecord(record.bytes) == record)
        for bound in PlacesBound.allCases {
            record.bound = bound
            record.isHeld.toggle()
            #expect(WorkerRecord(record.bytes) == record)
        }
    }
}
