#if canImport(Glibc)
import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// Redis does not roll a script back: each must find a foreign value before it has written anything.
@Suite struct WrongTypeTests {
    enum Call: String, CaseIterable, Sendable {
        case enqueue, claim, reclaim, renew, settleDone, settleBack

        var keys: [String] {
            switch self {
            case .enqueue: ["ready:normal", "known", "count", "batch:b"]
            case .claim, .settleDone, .settleBack: ["ready:normal", "leases", "expiry", "count", "known"]
            case .reclaim: ["ready:normal", "leases", "expiry"]
            case .renew: ["leases", "expiry"]
            }
        }

        func make(_ queue: QueueFixture, _ leases: [ClaimAnswer.Lease]) async throws {
            switch self {
            case .enqueue:
                _ = try await queue.state.enqueue([QueueFixture.url(1), QueueFixture.url(50)], batch: "b", from: 9, to: 11)
            case .claim: _ = try await queue.claim(5)
            case .reclaim: _ = try await queue.state.reclaim(9)
            case .renew: _ = try await queue.state.renew([LeaseToken([1])] + leases.map(\.token), lease: QueueFixture.lease)
            case .settleDone: _ = try await queue.state.settle(leases[0].token, .done, bytes: 1)
            case .settleBack: _ = try await queue.state.settle(leases[0].token, .handedBack, bytes: 1)
            }
        }
    }

    @Test(arguments: Call.allCases)
    func `a key of another type is a typed error, and nothing is half-written`(call: Call) async throws {
        try await QueueFixture.withClock { queue, clock in
            for key in call.keys {
                try await queue.redis.send(RedisCommand("FLUSHALL"))
                // Jobs in every state: waiting, leased, with an ended lease, about to be poison.
                try await queue.fill(0..<9)
                for _ in 0..<2 {
                    _ = try await queue.claim(3)
                    clock.advance(by: .seconds(3100))
                }
                _ = try await queue.claim(2)
                clock.advance(by: .seconds(3100))
                let leases = try await queue.state.claim(2, lease: .seconds(3600), nonce: 1).leases
                try #require(leases.count == 2)
                try await queue.redis.send(RedisCommand("ZADD", .string(queue.key("expiry")), "XX", "1", .bytes(leases[1].token.bytes)))

                try await queue.redis.send(RedisCommand("SET", .string(queue.key(key)), "somebody else's"))
                let before = try await queue.dump()
                let error = await #expect(throws: RedisError.self, "\(call), \(key)") { try await call.make(queue, leases) }
                #expect(error?.kind == .wrongType, "\(call), \(key)")
                #expect(try await queue.dump() == before, "\(call), \(key)")
            }
        }
    }

    @Test func `a full Redis refuses new jobs whole, and lets those it has come to their end`() async throws {
        let server = try await RedisServer.start()
        try await QueueFixture.with(server) { queue in
            try await queue.fill(0..<10)
            _ = try await server.command("CONFIG", "SET", "maxmemory", "1")
            let before = try await queue.dump()
            let error = await #expect(throws: RedisError.self) { try await queue.fill(20..<30, batch: "c") }
            #expect(error?.kind == .outOfMemory)
            #expect(try await queue.dump() == before)
            let leases = try await queue.claim(10).leases
            #expect(leases.count == 10)
            for lease in leases { #expect(try await queue.state.settle(lease.token, .done, bytes: 1)) }
            #expect(try await queue.state.counts() == QueueCounts(enqueued: 10, done: 10, bytes: 10))
        }
        try await server.stop()
    }
}

#endif
