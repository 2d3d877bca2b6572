#if canImport(Glibc)
import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// Leases and their ends, on a clock that the tests move.
@Suite struct LeaseTests {
    @Test func `jobs are claimed oldest first and never more than asked for`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<5)
            let first = try await queue.claim(2)
            #expect(first.leases.map(\.entry.url) == ["http://h/0", "http://h/1"])
            #expect(first.poisoned == 0)
            let end = try #require(first.nextLeaseEnd)
            #expect(end > .seconds(2900) && end <= .seconds(3000))
            #expect(try await queue.claim(9).leases.map(\.entry.url) == ["http://h/2", "http://h/3", "http://h/4"])
            #expect(try await queue.claim(9).leases.isEmpty)
            #expect(try await queue.state.counts() == QueueCounts(ready: 0, active: 5, enqueued: 5))
        }
    }

    @Test func `a claim in an empty queue finds nothing and writes nothing`() async throws {
        try await QueueFixture.with { queue in
            let answer = try await queue.claim(10)
            #expect(answer.leases.isEmpty)
            #expect(answer.nextLeaseEnd == nil)
            #expect(try await queue.keys() == [])
        }
    }

    @Test func `tokens differ from claim to claim even when Redis forgets its counter`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<2)
            let first = try await queue.claim(1).leases[0]
            try await queue.redis.send(RedisCommand("HDEL", .string(queue.key("count")), "tokens"))
            let second = try await queue.claim(1).leases[0]
            #expect(first.token != second.token)
            #expect(first.token.bytes.prefix(8) == second.token.bytes.prefix(8))
        }
    }

    @Test func `a job whose lease has ended is handed out again before all others, with one crash more`() async throws {
        try await QueueFixture.withClock { queue, clock in
            try await queue.fill(0..<2)
            let lost = try await queue.claim(1).leases[0]
            clock.advance(by: .seconds(2800))
            #expect(try await queue.claim(0).leases.isEmpty)
            #expect(try await queue.state.counts().crashed == 0)
            clock.advance(by: .seconds(300))
            let claim = try await queue.claim(1)
            #expect(claim.leases[0].entry == JobEntry(serial: 1, crashes: 1, id: QueueFixture.id(0), url: "http://h/0"))
            #expect(claim.leases[0].token != lost.token)
            #expect(try await queue.state.counts() == QueueCounts(ready: 1, active: 1, enqueued: 2, crashed: 1))
        }
    }

    @Test func `a job that three workers died on is given up`() async throws {
        try await QueueFixture.withClock { queue, clock in
            try await queue.fill([7])
            for crashes in 0..<3 {
                #expect(try await queue.claim(1).leases.map(\.entry.crashes) == [crashes])
                clock.advance(by: .seconds(3100))
            }
            let claim = try await queue.claim(1)
            #expect(claim.leases.isEmpty)
            #expect(claim.poisoned == 1)
            #expect(claim.nextLeaseEnd == nil)
            #expect(try await queue.state.counts() == QueueCounts(enqueued: 1, failed: 1, crashed: 3))
            // It is no longer known: somebody may want it again.
            try await queue.fill([7], batch: "again")
            #expect(try await queue.claim(1).leases.map(\.entry.crashes) == [0])
        }
    }

    @Test func `one claim takes back a bounded number of leases and says that more have ended`() async throws {
        try await QueueFixture.withClock { queue, clock in
            try await queue.fill(0..<250)
            #expect(try await queue.claim(250).leases.count == 250)
            clock.advance(by: .seconds(3100))
            for (taken, more) in [(100, true), (200, true), (250, false)] {
                let claim = try await queue.claim(0)
                #expect(try await queue.state.counts().ready == taken)
                #expect(claim.nextLeaseEnd == (more ? .zero : nil))
            }
            #expect(try await queue.state.counts().crashed == 250)
        }
    }

    @Test func `leases taken back early are first in line, in their order and uncharged`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<300)
            let leases = try await queue.claim(250).leases
            #expect(try await queue.state.renew(leases[..<20].map(\.token), lease: QueueFixture.lease * 2) == [])
            #expect(try await queue.state.settle(leases[7].token, .done, bytes: 0))
            #expect(try await queue.state.reclaim(1000) == 0)
            #expect(try await queue.state.counts() == QueueCounts(ready: 299, enqueued: 300, done: 1))
            #expect(try await queue.state.settle(leases[3].token, .done, bytes: 0) == false)
            let again = try await queue.claim(300).leases
            #expect(again.map(\.entry.url) == (0..<300).filter { $0 != 7 }.map { "http://h/\($0)" })
            #expect(again.allSatisfy { $0.entry.crashes == 0 })
        }
    }

    @Test func `one call takes back a bounded number of leases early, and says how many are left`() async throws {
        try await QueueFixture.with { queue in
            try await queue.fill(0..<25)
            _ = try await queue.claim(25)
            for left in [15, 5, 0, 0] { #expect(try await queue.state.reclaim(10) == left) }
            #expect(try await queue.claim(25).leases.map(\.entry.url) == (0..<25).map { "http://h/\($0)" })
        }
    }

    @Test func `a renewal extends a lease and names those that are lost`() async throws {
        try await QueueFixture.withClock { queue, clock in
            try await queue.fill(0..<3)
            let leases = try await queue.claim(3).leases
            #expect(try await queue.state.settle(leases[2].token, .done, bytes: 0))
            clock.advance(by: .seconds(2000))
            let unknown = LeaseToken([1, 2, 3])
            let lost = try await queue.state.renew(
                [leases[0].token, leases[2].token, unknown], lease: QueueFixture.lease)
            #expect(lost == [leases[2].token, unknown])
            clock.advance(by: .seconds(2000))
            #expect(try await queue.claim(9).leases.map(\.entry.url) == ["http://h/1"])
            clock.advance(by: .seconds(1100))
            #expect(try await queue.claim(9).leases.map(\.entry.url) == ["http://h/0"])
            #expect(try await queue.state.renew([leases[0].token], lease: QueueFixture.lease) == [leases[0].token])
        }
    }

    @Test func `a lease that has ended and was not taken back is still its holder's`() async throws {
        try await QueueFixture.withClock { queue, clock in
            try await queue.fill(0..<2)
            let leases = try await queue.claim(2).leases
            clock.advance(by: .seconds(6000))
            #expect(try await queue.state.renew([leases[0].token], lease: QueueFixture.lease) == [])
            #expect(try await queue.state.settle(leases[1].token, .done, bytes: 5))
            #expect(try await queue.claim(9).leases.isEmpty)
        }
    }

    @Test func `a clock that jumps back lets no lease end early`() async throws {
        try await QueueFixture.withClock { queue, clock in
            try await queue.fill(0..<1)
            _ = try await queue.claim(1)
            clock.advance(by: .seconds(-3600))
            let claim = try await queue.claim(1)
            #expect(claim.leases.isEmpty)
            #expect(claim.nextLeaseEnd.map { $0 > .seconds(3600) } == true)
        }
    }

    @Test func `what another version wrote is neither handed out nor charged nor lost`() async throws {
        try await QueueFixture.withClock { queue, clock in
            let foreign = ["\u{2}" + String(repeating: "x", count: 40), "\u{1}short", ""]
            for entry in foreign { try await queue.redis.send(RedisCommand("RPUSH", .string(queue.key("ready:normal")), .string(entry))) }
            try await queue.fill(0..<2)
            #expect(try await queue.claim(4).leases.map(\.entry.url) == ["http://h/0"])
            #expect(try await queue.claim(9).leases.map(\.entry.url) == ["http://h/1"])
            // One that a newer worker had leased before it died.
            let leases = RedisArgument.string(queue.key("leases"))
            let leased = "\u{2}" + String(repeating: "y", count: 40)
            try await queue.redis.send(RedisCommand("HSET", leases, "theirs", .string(leased)))
            try await queue.redis.send(RedisCommand("ZADD", .string(queue.key("expiry")), "1", "theirs"))
            for _ in 0..<5 {
                clock.advance(by: .seconds(1))
                #expect(try await queue.claim(9).leases.isEmpty)
            }
            let ready = try await queue.redis.send(RedisCommand("LRANGE", .string(queue.key("ready:normal")), "0", "-1")).asArray()
            #expect(Set(try ready.map { try $0.asString() }) == Set(foreign + [leased]))
            #expect(try await queue.state.counts() == QueueCounts(ready: 4, active: 2, enqueued: 2))
        }
    }
}

extension JobEntry {
    fileprivate init(serial: Int, crashes: Int, id: URLID, url: String) {
        let number = withUnsafeBytes(of: serial.bigEndian) { Array($0.suffix(6)) }
        self.init([Self.version, UInt8(crashes)] + number + id.bytes + Array(url.utf8))!
    }
}
#endif
