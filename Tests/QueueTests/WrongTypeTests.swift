import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Another program has written to our keys. Redis does not roll a script back, so a script looks at its keys before it writes. A sweep is many
/// steps, and leaves none of them half done. Calls that go from job to job look at a job's keys when they come to it. The audit mends the job
/// that such a call leaves half done.
@Suite struct WrongTypeTests {
    @Test(arguments: StateCall.allCases)
    func `a key of another type is a typed error, and no job is lost`(call: StateCall) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            var refused = 0
            let isClaim = call == .claim || call == .claimNothing
            let (goesFromJobToJob, isSweep) = (Self.callsFromJobToJob.contains(call), Self.sweeps.contains(call))
            for isLate in isClaim ? [false, true] : [false] {
                let kept = try await KeptSituation(fixture, clock) { if isLate { try await $0.growLate(fixture, clock) } }
                let situation = kept.situation
                for key in try await Self.keys(fixture) {
                    let name = "\(call) \(isLate ? "late " : "")with \(StateDump.shown(key))"
                    try await kept.restore()
                    let wrong = try await WrongKey(key, fixture.redis)
                    let before = try await Self.digest(fixture)
                    var isRefused = false
                    do {
                        try await call.make(fixture, situation)
                    } catch let error as StateError {
                        isRefused = true
                        refused += 1
                        guard error.redis?.kind == .wrongType else {
                            Issue.record("\(name): \(error)")
                            continue
                        }
                        if !goesFromJobToJob, !isSweep { #expect(try await Self.digest(fixture) == before, "\(name)") }
                    }
                    // Where the call is meant to remove the key, the value from before is not missed.
                    guard try await wrong.restore(), isRefused || isClaim else { continue }
                    if goesFromJobToJob, isRefused { _ = try await fixture.cluster.audit(mend: true) }
                    if isSweep { #expect(try await fixture.cluster.audit(mend: false) == [], "\(name)") }
                    try await Self.finish(fixture, situation, clock, name, call)
                }
            }
            #expect(refused >= 1, "\(call) touches keys")
        }
    }

    @Test func `failures are refused whole while the dead are of another type, and settled afterwards`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            let jobs = try await fixture.claim(3).jobs
            let dead = RedisArgument.string(fixture.key(queue: "dead"))
            try await fixture.redis.send(RedisCommand("SET", dead, "somebody else's"))
            let before = try await fixture.dump()
            let outcomes = [QueueFixture.fetched(jobs[0].url), QueueFixture.failed(jobs[1].url), QueueFixture.failed(jobs[2].url)]
            let settlements = zip(jobs, outcomes).map { Settlement($0.token, $0.id, $1, host: .answered) }
            let error = await #expect(throws: StateError.self) { try await fixture.claim(0) { $0.settlements = settlements } }
            #expect(error?.redis?.kind == .wrongType)
            #expect(try await fixture.dump().differences(from: before) == [])
            try await fixture.redis.send(RedisCommand("DEL", dead))
            #expect(try await fixture.claim(0) { $0.settlements = settlements }.verdicts == [.settled, .settled, .settled])
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 1 && counts.failed == 2 && counts.isEmpty)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    private static let callsFromJobToJob: Set<StateCall> = [
        .claim, .claimNothing, .renew, .nameHoldings, .settleFetched, .settleFetchedAlone, .settleRevalidated, .settleNotStored,
        .settleFailed, .settleRetry, .settleThrottled, .settleUnreachable, .settlePutOff, .settleBack, .settleDelivered, .settleMissing,
        .reclaim,
    ]

    private static let sweeps: Set<StateCall> = [.deleteReady, .deleteParked, .deleteDelayed, .hasten]

    /// A digest of all keys and their values. Redis says a value that nobody has written to in the same bytes.
    private static func digest(_ fixture: QueueFixture) async throws -> String {
        let script = """
            local keys, values = redis.call('KEYS', '*'), {}
            table.sort(keys)
            for i, key in ipairs(keys) do values[i] = key .. redis.sha1hex(redis.call('DUMP', key)) end
            return redis.sha1hex(table.concat(values))
            """
        return try await fixture.redis.send(RedisCommand("EVAL", .string(script), 0)).asString()
    }

    private static func finish(
        _ fixture: QueueFixture, _ situation: Situation, _ clock: MovableClock, _ name: String, _ call: StateCall
    ) async throws {
        if call == .clear { return }
        try await situation.finish(fixture, clock)
        try await fixture.expectEnded(name)
    }

    /// All keys that there are, and keys that there could be.
    private static func keys(_ fixture: QueueFixture) async throws -> [[UInt8]] {
        var keys: Set<[UInt8]> = []
        for key in try await fixture.redis.send(RedisCommand("KEYS", "*")).asArray() { keys.insert(try key.asBytes()) }
        keys.insert(Array(fixture.key("holder:").utf8) + Incarnation(30).bytes)
        for name in ["idle", "dead", "aside:normal:h0", "timers:high", "delayed:normal:10000", "finished:3", "batch:7", "ready:high"] {
            keys.insert(Array(fixture.key(queue: name).utf8))
        }
        for number in [0, 1, 3, 4, 12, 55, 99] {
            for kind in [fixture.key("outcome:"), fixture.key(queue: "followers:")] {
                keys.insert(Array(kind.utf8) + QueueFixture.id(number).bytes)
            }
        }
        return keys.sorted { StateDump.shown($0) < StateDump.shown($1) }
    }
}

/// A key that holds another program's value for a while.
private struct WrongKey {
    let key: RedisArgument
    let redis: RedisConnection
    private let type: String
    private static let aside: RedisArgument = "set aside by the test"

    init(_ bytes: [UInt8], _ redis: RedisConnection) async throws {
        key = .bytes(bytes)
        self.redis = redis
        let found = try await redis.send(RedisCommand("TYPE", key)).asString()
        if found != "none" { try await redis.send(RedisCommand("RENAME", key, Self.aside)) }
        let text = String(decoding: bytes, as: UTF8.self)
        let isString = found == "string" || (found == "none" && text.contains("}outcome:"))
        type = isString ? "list" : "string"
        try await redis.send(isString ? RedisCommand("RPUSH", key, "somebody else's") : RedisCommand("SET", key, "somebody else's"))
    }

    /// Puts the key's own value back. Returns whether the strange value was still there.
    func restore() async throws -> Bool {
        let isThere = try await redis.send(RedisCommand("TYPE", key)).asString() == type
        if isThere {
            try await redis.send(RedisCommand("DEL", key))
            if try await redis.send(RedisCommand("EXISTS", Self.aside)).asInteger() == 1 {
                try await redis.send(RedisCommand("RENAME", Self.aside, key))
            }
        } else {
            try await redis.send(RedisCommand("DEL", Self.aside))
        }
        return isThere
    }
}
