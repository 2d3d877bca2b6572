import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// The cost of jobs to Redis, in numbers that do not depend on time.
@Suite struct JobCostTests {
    private func withServer(_ body: (QueueFixture, RedisServer) async throws -> Void) async throws {
        let server = try await RedisServer.start()
        try await QueueFixture.with(server) { try await body($0, server) }
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
                    _ = try await queue.enqueue([(entry: try QueueFixture.entry(500 + number), row: 1)], to: 1, of: &progress)
                    _ = try await queue.cancel(batch: progress.number)
                }
                try await fixture.fill(0..<2)
                let jobs = try await fixture.claim(2, lease: QueueFixture.neverExtended).jobs
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

    /// The memory of Redis for its data. No other client has buffers meanwhile, the log of slow calls is empty, and the sources of scripts
    /// are left out.
    private func memory(of server: RedisServer) async throws -> Int {
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: server.socketPath)))
        func number(_ field: String, in section: RedisArgument) async throws -> Int {
            let lines = try await redis.send(RedisCommand("INFO", section)).asString().split(whereSeparator: \.isNewline)
            return lines.first { $0.hasPrefix(field + ":") }.flatMap { Int($0.dropFirst(field.count + 1)) } ?? 0
        }
        try await eventually("no other client is connected") { try await number("connected_clients", in: "clients") == 1 }
        try await redis.send(RedisCommand("SLOWLOG", "RESET"))
        let memory = try await number("used_memory", in: "memory") - number("used_memory_scripts", in: "memory")
        await redis.close()
        return memory
    }

    /// Jobs whose URLs have 56 bytes.
    private func enqueue(_ range: Range<Int>, hosts: Int, _ fixture: QueueFixture) async throws {
        let entries = try range.map { index in
            let host = "h\(100_000 + index % hosts).example"
            let url = "http://\(host)/"
            let path = String(repeating: "p", count: 56 - url.utf8.count - 6) + "\(100_000 + index)"
            return try JobEntry(id: QueueFixture.id(index), host: host, url: url + path)
        }
        for start in stride(from: 0, to: entries.count, by: 5000) {
            try await fixture.accept(Array(entries[start..<start + 5000]), batch: "many", closing: false)
        }
    }

    @Test(arguments: [1, 30_000])
    func `a waiting job takes at most eighty bytes, and a finished one at most three hundred`(hosts: Int) async throws {
        let server = try await RedisServer.start()
        // The namespace is a part of each outcome's key.
        func measured(_ body: (QueueFixture) async throws -> Void) async throws -> Int {
            try await QueueFixture.with(server, namespace: "gannet") { try await body($0) }
            return try await memory(of: server)
        }
        let (before, number) = (5000, 25_000)
        // The first jobs bring what does not grow with the queue: Redis keeps a histogram of each command that was called.
        let empty = try await measured { fixture in
            try await fixture.fill([before + number])
            try await fixture.work(64, hostLimit: 64, worker: "w")
        }
        let few = try await measured { try await enqueue(0..<before, hosts: hosts, $0) }
        let waiting = try await measured { try await enqueue(before..<before + number, hosts: hosts, $0) } - few
        // The last node of a list has room for more jobs.
        #expect(waiting <= number * 80 + 8192, "\(waiting) bytes for \(number) waiting jobs")
        if hosts == 1 {
            let finished = try await measured { fixture in
                try await fixture.work(64, hostLimit: 64, worker: "w")
                #expect(try await fixture.queue.counts().done == before + number + 1)
            }
            #expect(finished - empty <= 300 * (before + number), "\(finished - empty) bytes for \(before + number) finished jobs")
        }
        try await server.stop()
    }

    @Test func `a fetched page takes at most 370 bytes with what a cache wants to know of it`() async throws {
        let server = try await RedisServer.start()
        let number = 15_000
        func measured(_ body: (QueueFixture) async throws -> Void) async throws -> Int {
            try await QueueFixture.with(server, namespace: "gannet") { try await body($0) }
            return try await memory(of: server)
        }
        let empty = try await measured { fixture in
            try await fixture.fill([number])
            try await fixture.work(64, hostLimit: 64, worker: "w")
        }
        let finished = try await measured { fixture in
            try await enqueue(0..<number, hosts: 1, fixture)
            try await fixture.work(64, hostLimit: 64, worker: "w") { job in
                var content = OutcomeContent(url: job.url)
                (content.status, content.digest) = (200, [UInt8](repeating: 7, count: 32))
                content.fields[.contentType] = "text/plain"
                // The cache's facts name the digest and the URL once more, and have some thirty bytes of their own.
                content.facts = Array("12345".utf8) + (content.digest ?? []) + Array("1234567890123456789012".utf8) + Array(job.url.utf8)
                return .fetched(content, Retention(fresh: .seconds(3600), keep: .seconds(86_400)))
            }
        }
        #expect(finished - empty <= 370 * number, "\(finished - empty) bytes for \(number) finished jobs")
        try await server.stop()
    }
}
