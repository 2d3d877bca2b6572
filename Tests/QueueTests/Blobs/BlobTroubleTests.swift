import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

@Suite struct BlobTroubleTests {
    @Test func `an entry whose body is gone is removed in its turn, and its bytes no longer count`() async throws {
        try await BlobFixture.with { fixture in
            for number in 0..<3 { try await fixture.put(number, 1_000_000) }
            try await fixture.redis.send(RedisCommand("DEL", fixture.key(of: 0)))
            #expect(try await fixture.get(0) == nil)
            #expect(try await fixture.put(3, 1_000_000, limit: 4_000_000) == .stored)
            let usage = try await fixture.store.usage()
            #expect(usage.blobs == 3 && usage.bytes == 3_000_000 && usage.evicted == 0)
        }
    }

    @Test(arguments: [5000, 500_000])
    func `a body that went and comes back is counted once`(size: Int) async throws {
        try await BlobFixture.with { fixture in
            try await fixture.put(1, size)
            let usage = try await fixture.store.usage()
            try await fixture.redis.send(RedisCommand("DEL", fixture.key(of: 1)))
            #expect(try await fixture.put(1, size) == .stored)
            #expect(try await fixture.get(1) == BlobFixture.body(1, size))
            #expect(try await fixture.store.usage() == usage)
        }
    }

    @Test(arguments: [true, false])
    func `a body without an entry gets one when it is met`(byReading: Bool) async throws {
        try await BlobFixture.with { fixture in
            try await fixture.put(1, 5000)
            let usage = try await fixture.store.usage()
            try await fixture.redis.send(RedisCommand("DEL", fixture.key("s"), fixture.key("count")))
            if byReading {
                #expect(try await fixture.get(1) == BlobFixture.body(1, 5000))
            } else {
                #expect(try await fixture.put(1, 5000) == .present)
            }
            #expect(try await fixture.store.usage() == usage)
        }
    }

    @Test func `a body that another program cut short is replaced by the whole one`() async throws {
        try await BlobFixture.with { fixture in
            try await fixture.put(1, 5000)
            let usage = try await fixture.store.usage()
            try await fixture.redis.send(RedisCommand("SET", fixture.key(of: 1), "short"))
            #expect(try await fixture.get(1) == Array("short".utf8))
            #expect(try await fixture.put(1, 5000) == .stored)
            #expect(try await fixture.get(1) == BlobFixture.body(1, 5000))
            #expect(try await fixture.store.usage() == usage)
        }
    }

    @Test(arguments: ["count", "s", "body"], [5000, 500_000])
    func `a key of another type is an error, and nothing is half written`(which: String, size: Int) async throws {
        try await BlobFixture.with { fixture in
            try await fixture.put(1, 5000)
            let key = which == "body" ? fixture.key(of: 2) : fixture.key(which)
            try await fixture.redis.send(RedisCommand("DEL", key))
            try await fixture.redis.send(RedisCommand("RPUSH", key, "something else"))
            let before = try await dump(fixture)
            await #expect(throws: StateError.self) { try await fixture.put(2, size) }
            #expect(try await dump(fixture) == before)
            await #expect(throws: StateError.self) { try await fixture.store.remove(digest: BlobFixture.digest(2)) }
            #expect(try await dump(fixture) == before)
            // A body that can be read is read all the same.
            #expect(try await fixture.get(1) == BlobFixture.body(1, 5000))
        }
    }

    @Test(arguments: [5000, 500_000])
    func `on a server whose memory is full a put is an error where no body can make room, and the rest goes on`(size: Int) async throws {
        try await BlobFixture.withServer { fixture, _ in
            try await fixture.put(1, 5000)
            // The server learns the scripts before it has no room for them.
            _ = try await fixture.get(1)
            try await fixture.store.remove(digest: BlobFixture.digest(7))
            try await fixture.redis.send(RedisCommand("CONFIG", "SET", "maxmemory", "1"))
            let before = try await dump(fixture)
            let error = await #expect(throws: StateError.self) { try await fixture.put(2, size, sparing: .seconds(60)) }
            guard case .redis(let reason) = error else { throw KitError("no error of Redis: \(String(describing: error))") }
            #expect(reason.kind == .outOfMemory)
            #expect(try await dump(fixture) == before)
            #expect(try await fixture.get(1) == BlobFixture.body(1, 5000))
            #expect(try await fixture.put(1, 5000) == .present)
            #expect(try await fixture.store.remove(digest: BlobFixture.digest(1)))
            #expect(try await fixture.store.usage().memory == 0)
        }
    }

    @Test(arguments: [50_000, 300_000])
    func `on a server whose memory is full the bodies unused for longest make room`(size: Int) async throws {
        try await BlobFixture.withServer { fixture, _ in
            for number in 0..<20 { try await fixture.put(number, size) }
            // The server learns the other scripts before it has no room for them.
            _ = try await fixture.get(1)
            let full = try await fixture.usedMemory()
            // Whatever else is in Redis takes the room, and the store is far below its own limit.
            try await fixture.redis.send(RedisCommand("CONFIG", "SET", "maxmemory", .integer(full - size)))
            for number in 20..<40 { #expect(try await fixture.put(number, size) == .stored) }
            let usage = try await fixture.store.usage()
            #expect(usage.evicted == 40 - usage.blobs && (10...20).contains(usage.blobs))
            #expect(try await fixture.get(39) == BlobFixture.body(39, size))
            #expect(try await fixture.get(0) == nil)
        }
    }

    @Test func `a large body that the server refuses after its entry was written no longer counts`() async throws {
        try await BlobFixture.withServer { fixture, _ in
            let used = try await fixture.usedMemory()
            // The memory is enough for the script, and too little for the body that is written after it.
            let limit = RedisArgument.integer(used + 2_000_000)
            try await fixture.put(1, 100)
            try await fixture.redis.send(RedisCommand("CONFIG", "SET", "maxmemory", limit))
            let error = await #expect(throws: StateError.self) { try await fixture.put(2, 20_000_000, sparing: .seconds(60)) }
            guard case .redis(let reason) = error else { throw KitError("no error of Redis: \(String(describing: error))") }
            #expect(reason.kind == .outOfMemory)
            try await fixture.redis.send(RedisCommand("CONFIG", "SET", "maxmemory", "0"))
            let usage = try await fixture.store.usage()
            #expect(usage.blobs == 1 && usage.bytes == 100)
            #expect(try await fixture.get(2) == nil)
        }
    }

    /// Everything in the store, as Redis dumps it.
    /// The keys of the store, but for its clock.
    private func dump(_ fixture: BlobFixture) async throws -> StateDump {
        try await StateDump(fixture.redis, namespace: "\(fixture.namespace):blob").without(["clock"], of: "count")
    }
}
