import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// The cost of jobs to Redis, in numbers that do not depend on time.
@Suite struct JobCostTests {
    private func withServer(namespace: String? = nil, _ body: (QueueFixture, RedisServer) async throws -> Void) async throws {
        let server = try await RedisServer.start()
        try await QueueFixture.with(server, namespace: namespace) { try await body($0, server) }
        try await server.stop()
    }

    @Test func `a job costs a sixty-fourth of a script call and a few commands, and no more when it is fetched again`() async throws {
        try await withServer { fixture, server in
            var options = BatchOptions()
            var commands: [Int] = []
            for batch in ["first", "again"] {
                try await fixture.fill(0..<1280, hosts: 20, batch: batch, options: options)
                options.refresh = true
                _ = try await fixture.claim(0)
                var exchanges = 0
                let statistics = try await server.statistics {
                    exchanges = try await fixture.work(64, hostLimit: 64, worker: batch).exchanges
                }
                #expect(exchanges <= 1280 / 64 + 2)
                commands.append(statistics.callsInScripts)
            }
            #expect(commands[0] <= 1280 * 4, "\(commands)")
            // Each exchange reads what is known of its jobs' URLs at once.
            #expect(commands[1] <= commands[0] + 2 * 1280 / 64, "\(commands)")
        }
    }

    @Test func `a settled job costs the same however many queues had jobs for its host`() async throws {
        func commands(queues: Int) async throws -> Int {
            var count = 0
            try await withServer { fixture, server in
                for number in 0..<queues {
                    let queue = fixture.cluster.queue("run \(number)")
                    var progress = try await queue.begin(batch: "b")
                    _ = try await queue.enqueue([FetchQueue.Row(try QueueFixture.entry(500 + number), at: 1)], to: 1, of: &progress)
                    _ = try await queue.cancel(batch: progress.number)
                }
                try await fixture.fill(0..<2)
                let jobs = try await fixture.claim(2).jobs
                _ = try await fixture.settle(jobs[0], QueueFixture.fetched(jobs[0].url))
                count = try await server.statistics { _ = try await fixture.settle(jobs[1], QueueFixture.fetched(jobs[1].url)) }
                    .callsInScripts
            }
            return count
        }
        let alone = try await commands(queues: 0)
        #expect(try await commands(queues: 30) <= alone)
    }

    @Test(arguments: [(1, 15_625), (1000, 8000)])
    func `jobs of blocked hosts before one that can run cost a few commands for each thousand of their blocks`(
        hosts: Int, blocks: Int
    ) async throws {
        try await withServer { fixture, server in
            try await fixture.cluster.set(OperatorRule("*.blocked", pause: .seconds(3600)))
            // A chunk as a producer sends it, and then the same again and again: a million jobs at one host.
            let size = hosts == 1 ? 64 : 1
            try await fixture.accept(
                try (0..<hosts * size).map { number in
                    let host = "h\(number / size).blocked"
                    return try JobEntry(id: QueueFixture.id(number), host: host, url: "http://\(host)/\(number)")
                })
            let repeating = """
                local blocks = redis.call('LRANGE', KEYS[1], 0, -1)
                for _ = 2, ARGV[1] / #blocks do redis.call('RPUSH', KEYS[1], unpack(blocks)) end
                return redis.call('LLEN', KEYS[1])
                """
            let ready = RedisArgument.string(fixture.key(queue: "ready:normal"))
            let number = try await fixture.redis.send(RedisCommand("EVAL", .string(repeating), "1", ready, .integer(blocks))).asInteger()
            #expect(number == blocks)
            try await fixture.send("HINCRBY", fixture.queueKey("queue"), "enqueued", .integer((blocks - hosts) * size))
            try await fixture.fill([1 << 30], batch: "can run")
            _ = try await fixture.claim(0)

            var calls = 0
            let statistics = try await server.statistics {
                while try await fixture.claim(1).jobs.isEmpty {
                    calls += 1
                    try #require(calls < 100)
                }
            }
            #expect(calls <= blocks / 900, "\(calls)")
            #expect(statistics.callsInScripts <= (hosts == 1 ? blocks / 10 : blocks * 4), "\(statistics.callsInScripts)")
        }
    }

    @Test(arguments: [1, 100_000])
    func `a waiting job takes at most eighty bytes, and a finished one at most three hundred`(hosts: Int) async throws {
        // The namespace is a part of each outcome's key.
        try await withServer(namespace: "gannet") { fixture, _ in
            func memory() async throws -> Int {
                let info = try await fixture.redis.send(RedisCommand("INFO", "memory")).asString()
                let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
                return Int(line?.dropFirst("used_memory:".count) ?? "") ?? 0
            }
            let number = 100_000
            // Scripts and buffers take memory of their own, which does not grow with the queue.
            let before = 20_000
            var beforeJobs = 0
            var progress = try await fixture.queue.begin(batch: "b")
            _ = try await fixture.claim(0)
            let empty = try await memory()
            for start in stride(from: 0, to: number + before, by: 5000) {
                if start == before { beforeJobs = try await memory() }
                let rows = try (start..<start + 5000).map { index in
                    let host = "h\(100_000 + index % hosts).example"
                    let url = "http://\(host)/"
                    let path = String(repeating: "p", count: 56 - url.utf8.count - 6) + "\(100_000 + index)"
                    return FetchQueue.Row(try JobEntry(id: QueueFixture.id(index), host: host, url: url + path), at: index + 1)
                }
                _ = try await fixture.queue.enqueue(rows, to: start + 5000, of: &progress, closing: start + 5000 == number + before)
            }
            let waiting = try await memory() - beforeJobs
            // The last node of a list has room for more jobs.
            #expect(waiting <= number * 80 + 8192, "\(waiting / number) bytes a waiting job")
            if hosts > 1 { return }
            try await fixture.work(64, hostLimit: 64, worker: "w")
            #expect(try await fixture.queue.counts().done == number + before)
            let finished = (try await memory() - empty) / (number + before)
            #expect(finished <= 300, "\(finished) bytes a finished job")
        }
    }
}
