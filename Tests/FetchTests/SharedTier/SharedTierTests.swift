import Foundation
import GannetFetch
import GannetRedis
import GannetTestKit
import Glibc
import Testing

/// Several processes over one Redis.
struct SharedTierTests {
    private let shared = SharedNamespace()

    @Test func `ten thousand calls in eight processes make one request`() async throws {
        let redis = try await RedisServer.shared
        let origin = try await Origin.start(
            .init { $0.directives = "location = /a { add_header Cache-Control max-age=600; return 200 body; }" })
        var processes: [FetchingProcess] = []
        for _ in 0..<8 { processes.append(try await FetchingProcess(redis, origin.url("/a"), namespace: shared.namespace, calls: 1250)) }
        var downloads = 0
        for process in processes {
            let outcome = try await process.outcome
            #expect(outcome.good == 1250 && outcome.body == "body")
            downloads += outcome.downloads
        }
        #expect(downloads == 1)
        #expect(try await origin.requests().map(\.path) == ["/a"])
        try await origin.stop()
    }

    @Test func `callers of two caches share the fetches of hosts in four partitions`() async throws {
        let redis = try await RedisServer.shared
        let hosts = (1...12).map { "127.0.0.\($0)" }
        let origin = try await Origin.start(
            .init {
                $0.addresses = hosts
                $0.directives = "location /p/ { add_header Cache-Control max-age=600; return 200 $request_uri; }"
            })
        try await redis.command("SET", "{\(shared.namespace)}schema", "4/4")
        let caches = [try await shared.cache(redis), try await shared.cache(redis)]
        let fetchers = try caches.map { try shared.fetcher($0) }
        let urls = hosts.flatMap { host in (0..<5).map { "http://\(host):\(origin.port)/p/\($0)" } }
        let good = try await withThrowingTaskGroup(of: Bool.self) { group in
            for fetcher in fetchers + fetchers {
                for url in urls {
                    group.addTask { try await fetcher.data(for: FetchRequest(url)) == Data(url.utf8.suffix(4)) }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(good == 240)
        #expect(try await origin.requests().count == 60)
        for tag in ["", ":1", ":2", ":3"] {
            #expect(try await redis.command("EXISTS", "{\(shared.namespace)\(tag)}state") == .integer(1), "\(tag)")
        }
        for fetcher in fetchers { await fetcher.close() }
        for cache in caches { await cache.close() }
        try await origin.stop()
    }

    @Test func `a failure that may not be kept goes to no later caller, even one that accepts any age`() async throws {
        let redis = try await RedisServer.shared
        let answers = ["404 Not Found", "200 OK"].map { status in
            "HTTP/1.1 \(status)\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody"
        }
        let server = try HostileServer(scripts: answers.map { [.readUntil("\r\n\r\n"), .send($0)] })
        let cache = try await shared.cache(redis)
        let fetcher = try shared.fetcher(cache)
        let request = FetchRequest("http://127.0.0.1:\(server.port)/") { $0.maximumAge = .seconds(60) }
        await #expect(throws: FetchError.self) { try await fetcher.data(for: request) }
        // A caller within the same millisecond of Redis' time would count as waiting.
        try await redis.command("BLPOP", "\(shared.namespace)nothing", "0.005")
        #expect(try await fetcher.data(for: request) == Data("body".utf8))
        await fetcher.close()
        await cache.close()
    }

    @Test func `callers that wait for a body too large for Redis fetch it at the same time`() async throws {
        let redis = try await RedisServer.shared
        let body = String(repeating: "x", count: 2_000_000)
        let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\r\n\(body)"
        // Only the first request gets an answer. All of them arrive, so none waits for another.
        let server = try HostileServer(scripts: [
            [.readUntil("\r\n\r\n"), .pause(.milliseconds(500)), .send(answer)], [.readUntil("\r\n\r\n"), .silence],
        ])
        let url = "http://127.0.0.1:\(server.port)/"
        var caches: [RedisCache] = []
        for _ in 0..<4 { caches.append(try await shared.cache(redis, bodyLimit: 1_000_000)) }
        let fetchers = try caches.map { try shared.fetcher($0) }
        let calls = fetchers.map { fetcher in Task { try await fetcher.data(for: FetchRequest(url)) } }
        try await server.accepted(4)
        for call in calls { call.cancel() }
        for fetcher in fetchers { await fetcher.close() }
        for cache in caches { await cache.close() }
    }

    /// The end of the only lease, in milliseconds.
    private func leaseEnd(_ redis: RedisServer) async throws -> Int {
        guard case .list(let lease) = try await redis.command("ZRANGE", "{\(shared.namespace)}leases", "0", "-1", "WITHSCORES"),
            lease.count == 2,
            let end = lease[1].text.flatMap({ Int($0) })
        else { throw KitError("there is not exactly one lease") }
        return end
    }

    @Test func `another process takes over at the end of the lock of a killed process`() async throws {
        let redis = try await RedisServer.shared
        let server = try HostileServer(scripts: [
            [.readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nh"), .silence],
            [.readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 5\r\n\r\nwhole"), .silence],
        ])
        let url = "http://127.0.0.1:\(server.port)/"
        let holder = try await FetchingProcess(redis, url, namespace: shared.namespace, lease: .seconds(1))
        try await server.accepted(1)
        let waiter = try await FetchingProcess(redis, url, namespace: shared.namespace, lease: .seconds(1))
        // A living holder renews its lease. The renewal that adds a whole lease comes after the end of the first.
        let first = try await leaseEnd(redis)
        try await eventually("the holder renews its lock after the end of the first lease") { try await leaseEnd(redis) > first + 1000 }
        #expect(server.connections == 1)
        holder.process.kill()
        let outcome = try await waiter.outcome
        #expect(outcome.body == "whole" && outcome.downloads == 1)
        #expect(server.connections == 2)
        try await server.stop()
    }

    @Test func `a process that was stopped beyond the end of its lock is fenced, and its successor's answer stays`() async throws {
        let redis = try await RedisServer.shared
        let origin = try await Origin.start(
            .init { $0.directives = "location = /a { add_header Cache-Control max-age=600; return 200 successor; }" })
        let folder = try TemporaryFolder()
        let pipe = folder.file("line")
        #expect(mkfifo(pipe, 0o600) == 0)
        let line = open(pipe, O_RDWR)
        defer { close(line) }
        let stubborn = try await FetchingProcess(
            redis, origin.url("/a"), namespace: shared.namespace, lease: .seconds(1), stubbornAt: pipe)
        _ = try await stubborn.process.output.line { $0 == "asked" }
        stubborn.process.signal(SIGSTOP)

        let cache = try await shared.cache(redis)
        let fetcher = try shared.fetcher(cache)
        let successor = try await fetcher.response(for: FetchRequest(origin.url("/a")))
        try await shared.settled(redis)
        #expect(successor.source == .network && successor.data == Data("successor".utf8))

        stubborn.process.signal(SIGCONT)
        _ = write(line, "\n", 1)
        let late = try await stubborn.outcome
        #expect(late.fenced == 1 && late.good == 1)
        let other = try shared.fetcher(cache)
        let standing = try await other.response(for: FetchRequest(origin.url("/a")))
        #expect(standing.source == .shared && standing.data == Data("successor".utf8))
        #expect(try await redis.command("HGET", "{\(shared.namespace)}state", "doubleFetches") == .text("1"))
        #expect(try await origin.requests().count == 1)
        await cache.close()
        try await origin.stop()
    }

    @Test func `an answer that may not be kept is stored nowhere, and waiting callers ask for themselves`() async throws {
        let redis = try await RedisServer.shared
        let server = try HostileServer(
            .readUntil("\r\n\r\n"), .pause(.milliseconds(300)),
            .send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 6\r\n\r\nsecret"), .silence)
        let url = "http://127.0.0.1:\(server.port)/"
        let cache = try await shared.cache(redis)
        let bodies = try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                let fetcher = try shared.fetcher(cache)
                group.addTask { try await fetcher.data(for: FetchRequest(url)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies == Array(repeating: Data("secret".utf8), count: 4))
        #expect(server.connections == 4)
        let dump = try await redis.command("KEYS", "*\(shared.namespace)*blob*")
        #expect(dump == .list([]))
        await cache.close()
        try await server.stop()
    }

    @Test func `a failure is shared with other processes that remember failures`() async throws {
        let redis = try await RedisServer.shared
        let origin = try await Origin.start()
        let cache = try await shared.cache(redis)
        for _ in 0..<3 {
            let error = await #expect(throws: FetchError.self) {
                try await shared.fetcher(cache) { $0.freshness.failures = .brief }.data(for: FetchRequest(origin.url("/none")))
            }
            #expect(error?.kind == .status(404))
            #expect(error?.description == "The server answered 404 (\(origin.url("/none"))).")
        }
        #expect(try await origin.requests().count == 1)
        // A process that remembers no failures does not take over another's memory of one.
        try await shared.settled(redis)
        let error = await #expect(throws: FetchError.self) { try await shared.fetcher(cache).data(for: FetchRequest(origin.url("/none"))) }
        #expect(error?.kind == .status(404))
        #expect(try await origin.requests().count == 2)
        await cache.close()
        try await origin.stop()
    }

    @Test func `an answer that is stale in all processes is revalidated once`() async throws {
        let redis = try await RedisServer.shared
        let origin = try await Origin.start(.init { $0.directives = "location / { add_header Cache-Control max-age=0; }" })
        let file = try #require(origin.files.last)
        let cache = try await shared.cache(redis)
        let first = try await shared.fetcher(cache).response(for: FetchRequest(origin.url(file.path)))
        try await shared.settled(redis)
        let second = try await shared.fetcher(cache).response(for: FetchRequest(origin.url(file.path)))
        #expect(first.source == .network && second.source == .revalidated && first.data == second.data)
        #expect(try await origin.requests().map(\.status) == [200, 304])
        await cache.close()
        try await origin.stop()
    }

    @Test func `a missing or damaged body is fetched again`() async throws {
        let redis = try await RedisServer.shared
        let origin = try await Origin.start(
            .init { $0.directives = "location = /a { add_header Cache-Control max-age=600; return 200 body; }" })
        let cache = try await shared.cache(redis)
        let request = FetchRequest(origin.url("/a"))
        _ = try await shared.fetcher(cache).data(for: request)
        try await shared.settled(redis)
        try await changeBodies(redis, "redis.call('SET', key, 'BODY')")
        #expect(try await shared.fetcher(cache).response(for: request).data == Data("body".utf8))
        try await shared.settled(redis)
        try await changeBodies(redis, "redis.call('DEL', key)")
        #expect(try await shared.fetcher(cache).response(for: request).source == .network)
        #expect(try await shared.fetcher(cache).response(for: request).source == .shared)
        #expect(try await origin.requests().count == 3)
        await cache.close()
        try await origin.stop()
    }

    /// Does something to each body's key; the keys are not text.
    private func changeBodies(_ redis: RedisServer, _ change: String) async throws {
        let script = "local keys = redis.call('KEYS', ARGV[1]); for _, key in ipairs(keys) do \(change) end; return #keys"
        #expect(try await redis.command("EVAL", script, "0", "{\(shared.namespace):blob}:*") == .integer(1))
    }

    @Test func `a waiting caller asks again within a lease, even if the message was lost`() async throws {
        let redis = try await RedisServer.start()
        let server = try HostileServer(scripts: [
            [.readUntil("\r\n\r\n"), .silence],
            [.readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 2\r\n\r\nhi"), .silence],
        ])
        let request = FetchRequest("http://127.0.0.1:\(server.port)/")
        let cache = try await shared.cache(redis, lease: .seconds(3600))
        let holder = try shared.fetcher(cache)
        let first = Task { try await holder.data(for: request) }
        try await server.accepted(1)
        let waiter = try shared.fetcher(cache)
        let watch = try await redis.watch()
        let second = Task { try await waiter.data(for: request) }
        try await watch.saw("\"HSET\"", "}locks")
        try await redis.command("FLUSHALL")
        #expect(try await bounded("the caller has asked again") { try await second.value } == Data("hi".utf8))
        first.cancel()
        await cache.close()
        try await server.stop()
    }

    @Test func `a cache that is freed still wakes its waiting callers`() async throws {
        let redis = try await RedisServer.shared
        let server = try HostileServer(
            .readUntil("\r\n\r\n"), .pause(.milliseconds(500)),
            .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 2\r\n\r\nhi"), .silence)
        let request = FetchRequest("http://127.0.0.1:\(server.port)/")
        let holder = try shared.fetcher(try await shared.cache(redis, lease: .seconds(3600)))
        let waiter = try shared.fetcher(try await shared.cache(redis, lease: .seconds(3600)))
        let first = Task { try await holder.data(for: request) }
        try await server.accepted(1)
        // The end of the lock is an hour away.
        #expect(try await bounded("the caller is woken") { try await waiter.response(for: request).source } == .shared)
        _ = try await first.value
        try await server.stop()
    }

    @Test func `a long URL is shared like a short one`() async throws {
        let redis = try await RedisServer.shared
        let origin = try await Origin.start(
            .init {
                $0.directives =
                    "large_client_header_buffers 4 16k; location = /a { add_header Cache-Control max-age=3600; return 200 body; }"
            })
        let cache = try await shared.cache(redis)
        let request = FetchRequest(origin.url("/a?" + String(repeating: "x", count: 7000)))
        #expect(try await shared.fetcher(cache).response(for: request).source == .network)
        #expect(try await shared.fetcher(cache).response(for: request).source == .shared)
        await cache.close()
        try await origin.stop()
    }

    @Test func `a malformed outcome is fetched again`() async throws {
        let redis = try await RedisServer.shared
        let origin = try await Origin.start(
            .init { $0.directives = "location = /a { add_header Cache-Control max-age=3600; return 200 body; }" })
        let cache = try await shared.cache(redis)
        let request = FetchRequest(origin.url("/a"))
        _ = try await shared.fetcher(cache).data(for: request)
        try await shared.settled(redis)
        // The digest, and all that comes after it.
        let script = """
            local key = redis.call('KEYS', ARGV[1])[1]
            redis.call('SET', key, redis.call('GET', key):sub(1, 32) .. ('\\0'):rep(60))
            return 1
            """
        #expect(try await redis.command("EVAL", script, "0", "{\(shared.namespace)}outcome:*") == .integer(1))
        #expect(try await shared.fetcher(cache).response(for: request).data == Data("body".utf8))
        #expect(try await shared.fetcher(cache).response(for: request).source == .shared)
        #expect(try await origin.requests().count == 2)
        await cache.close()
        try await origin.stop()
    }

    @Test func `an answer from another process has to be as young as this caller wants`() async throws {
        let redis = try await RedisServer.shared
        let origin = try await Origin.start(
            .init { $0.directives = "location = /a { add_header Cache-Control max-age=600; add_header Age 100; return 200 body; }" })
        let cache = try await shared.cache(redis)
        _ = try await shared.fetcher(cache).data(for: FetchRequest(origin.url("/a")))
        try await shared.settled(redis)
        let young = FetchRequest(origin.url("/a")) { $0.maximumAge = .seconds(50) }
        #expect(try await shared.fetcher(cache).response(for: young).source == .network)
        let old = FetchRequest(origin.url("/a")) { $0.maximumAge = .seconds(200) }
        #expect(try await shared.fetcher(cache).response(for: old).source == .shared)
        await cache.close()
        try await origin.stop()
    }
}
