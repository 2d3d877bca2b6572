import GannetRedisClient
import Testing

@testable import GannetQueue

/// Makes drift by hand, and expects audits to find and mend it.
extension QueueFixture {
    /// A command on a key of the namespace, named without its tag.
    @discardableResult
    func send(_ command: RedisArgument, _ key: RedisArgument, _ rest: RedisArgument...) async throws -> RedisReply {
        let full: RedisArgument
        switch key {
        case .bytes(let bytes): full = .bytes(Array("{\(namespace)}".utf8) + bytes)
        case .string(let text): full = .string("{\(namespace)}\(text)")
        case .integer(let number): full = .string("{\(namespace)}\(number)")
        }
        return try await redis.send(RedisCommand([command, full] + rest))
    }

    func queueKey(_ name: String) -> RedisArgument { .string("q:\(queue.name):\(name)") }
    func keyBytes(_ prefix: String, _ number: Int) -> [UInt8] { Array(prefix.utf8) + Self.id(number).bytes }
    func followers(_ number: Int) -> RedisArgument { .bytes(keyBytes("q:\(queue.name):followers:", number)) }
    func holder(_ job: Job) -> RedisArgument { .bytes(Array("holder:".utf8) + job.token.incarnation.bytes) }

    /// Writes into the host's record that so many requests are in flight.
    func setRunning(_ number: UInt8, host: String) async throws {
        var record = try await send("HGET", "hosts", .string(host)).asBytes()
        record[1] = number
        try await send("HSET", "hosts", .string(host), .bytes(record))
    }

    /// Expects an audit to find all of `kinds`, and nothing else but `others`. The audit has to change nothing before it is asked to mend,
    /// and to find nothing afterwards.
    func expectDrift(
        _ kinds: Set<AuditFinding.Kind>, also others: Set<AuditFinding.Kind> = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try await dump()
        let found = try await cluster.audit(mend: false)
        let unchanged = try await dump() == before
        #expect(unchanged, sourceLocation: sourceLocation)
        #expect(found.allSatisfy { !$0.isMended && $0.count > 0 }, sourceLocation: sourceLocation)
        let mended = try await cluster.audit(mend: true)
        #expect(mended.allSatisfy { $0.isMended }, sourceLocation: sourceLocation)
        // Counters are compared only where nothing else was left to mend.
        let early = kinds.subtracting([.counter, .jobsLost, .jobsUncounted])
        for kind in early.isEmpty ? kinds : early {
            #expect(found.contains { $0.kind == kind }, "\(kind.rawValue) in \(found)", sourceLocation: sourceLocation)
        }
        for kind in kinds {
            #expect(mended.contains { $0.kind == kind }, "\(kind.rawValue) in \(mended)", sourceLocation: sourceLocation)
        }
        #expect(
            Set((found + mended).map(\.kind)).isSubset(of: kinds.union(others).union([.notChecked])), "\(found) \(mended)",
            sourceLocation: sourceLocation)
        let left = try await cluster.audit(mend: false)
        #expect(left.isEmpty, sourceLocation: sourceLocation)
    }
}
