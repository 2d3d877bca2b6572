package import RedisClient

/// The state of the cluster in Redis, and the only code that knows its keys, formats and scripts.
///
/// Each call is one script, and each may be repeated after a lost reply: an accepted chunk is not accepted twice, a lease that
/// ended is not ended again. Random numbers are parameters.
package struct ClusterState: Sendable {
    package let connection: RedisConnection
    private let keys: QueueKeys

    package init(_ connection: RedisConnection, namespace: String, queue: String) {
        self.connection = connection
        keys = QueueKeys(namespace: namespace, queue: queue)
    }

    /// The channel on which `enqueue` and hand-backs are announced.
    package var wakeChannel: String { keys.wakeChannel }

    /// Accepts the part of a batch's input between two offsets.
    package func enqueue(
        _ urls: [(id: URLID, url: String)], batch: String, from offset: Int, to end: Int
    ) async throws(RedisError) -> BatchProgress {
        var arguments: [RedisArgument] = [.integer(offset), .integer(end), .string(keys.wakeChannel)]
        arguments.reserveCapacity(3 + urls.count * 2)
        for (id, url) in urls {
            arguments.append(.bytes(id.bytes))
            arguments.append(.string(url))
        }
        let scriptKeys = [keys.ready, keys.known, keys.count, keys.batch(batch)]
        let answer = try await connection.run(ClusterScripts.enqueue, keys: scriptKeys, arguments).asArray()
        guard answer.count == 3 else { throw Self.unexpected("enqueue") }
        return BatchProgress(
            offset: try answer[0].asInteger(), added: try answer[1].asInteger(), repeated: try answer[2].asInteger())
    }

    /// Notes what a batch is made from, unless it was noted before; returns what is noted.
    package func begin(batch: String, source: String) async throws(RedisError) -> String {
        let replies = await connection.pipeline([
            RedisCommand("HSETNX", keys.batch(batch), "source", .string(source)), RedisCommand("HGET", keys.batch(batch), "source"),
        ])
        _ = try replies[0].get()
        return try replies[1].get().asString()
    }

    /// How far a batch has been accepted; zeros for one that is not known.
    package func progress(ofBatch batch: String) async throws(RedisError) -> BatchProgress {
        let command = RedisCommand("HMGET", keys.batch(batch), "offset", "added", "repeated")
        let fields = try await connection.send(command).asArray()
        guard fields.count == 3 else { throw Self.unexpected("HMGET") }
        return BatchProgress(
            offset: try Self.number(fields[0]), added: try Self.number(fields[1]), repeated: try Self.number(fields[2]))
    }

    /// Forgets a batch whose input has been accepted to its end.
    package func forget(batch: String) async throws(RedisError) {
        try await connection.send(RedisCommand("DEL", keys.batch(batch)))
    }

    /// Leases up to `limit` jobs.
    /// - Parameter nonce: Random; makes the tokens differ from any that another claim was or will be given.
    package func claim(_ limit: Int, lease: Duration, nonce: UInt64) async throws(RedisError) -> ClaimAnswer {
        let answer = try await connection.run(
            ClusterScripts.claim, keys: [keys.ready, keys.leases, keys.expiry, keys.count, keys.known],
            [.integer(limit), .integer(lease.wholeMilliseconds), .bytes(withUnsafeBytes(of: nonce) { Array($0) })]
        ).asArray()
        guard answer.count >= 4, answer.count.isMultiple(of: 2) else { throw Self.unexpected("claim") }
        var leases: [ClaimAnswer.Lease] = []
        var unreadable: [LeaseToken] = []
        for index in stride(from: 4, to: answer.count, by: 2) {
            let token = LeaseToken(try answer[index].asBytes())
            if let entry = JobEntry(try answer[index + 1].asBytes()) {
                leases.append(ClaimAnswer.Lease(token: token, entry: entry))
            } else {
                unreadable.append(token)
            }
        }
        let next = try answer[0].asInteger()
        return ClaimAnswer(
            leases: leases, unreadable: unreadable, nextLeaseEnd: next < 0 ? nil : .milliseconds(next),
            poisoned: try answer[1].asInteger(), foreign: try answer[2].asInteger(), waiting: try answer[3].asInteger())
    }

    /// Extends leases; returns those that are lost.
    package func renew(_ tokens: [LeaseToken], lease: Duration) async throws(RedisError) -> Set<LeaseToken> {
        if tokens.isEmpty { return [] }
        let arguments = [.integer(lease.wholeMilliseconds)] + tokens.map { RedisArgument.bytes($0.bytes) }
        let lost = try await connection.run(ClusterScripts.renew, keys: [keys.leases, keys.expiry], arguments).asArray()
        var tokens: Set<LeaseToken> = []
        for token in lost { tokens.insert(LeaseToken(try token.asBytes())) }
        return tokens
    }

    /// Takes up to `limit` leases back, whoever holds them; returns how many are left.
    package func reclaim(_ limit: Int) async throws(RedisError) -> Int {
        try await connection.run(
            ClusterScripts.reclaim, keys: [keys.ready, keys.leases, keys.expiry], [.integer(limit)]
        ).asInteger()
    }

    /// Ends a lease; false when it was lost, and then nothing has changed.
    package func settle(_ token: LeaseToken, _ outcome: JobOutcome, bytes: Int) async throws(RedisError) -> Bool {
        try await connection.run(
            ClusterScripts.settle, keys: [keys.leases, keys.expiry, keys.ready, keys.count, keys.known],
            [.bytes(token.bytes), .string(outcome.rawValue), .integer(bytes), .string(keys.wakeChannel)]
        ).asInteger() == 1
    }

    /// Depths and totals, at the same cost for ten jobs and ten million.
    package func counts() async throws(RedisError) -> QueueCounts {
        let replies = await connection.pipeline([
            RedisCommand("LLEN", keys.ready), RedisCommand("HLEN", keys.leases),
            RedisCommand("HMGET", keys.count, "enqueued", "done", "failed", "crashed", "bytes"),
        ])
        let totals = try replies[2].get().asArray()
        guard totals.count == 5 else { throw Self.unexpected("HMGET") }
        return QueueCounts(
            ready: try replies[0].get().asInteger(), active: try replies[1].get().asInteger(),
            enqueued: try Self.number(totals[0]), done: try Self.number(totals[1]), failed: try Self.number(totals[2]),
            crashed: try Self.number(totals[3]), bytes: try Self.number(totals[4]))
    }

    /// Removes the queue with all it holds.
    package func clear(batch: String) async throws(RedisError) {
        let all = [keys.ready, keys.known, keys.leases, keys.expiry, keys.count, keys.batch(batch)]
        try await connection.send(RedisCommand(["UNLINK"] + all))
    }

    private static func number(_ reply: RedisReply) throws(RedisError) -> Int {
        guard let bytes = try reply.asOptionalBytes() else { return 0 }
        guard let number = Int(String(decoding: bytes, as: UTF8.self)) else { throw unexpected("a counter") }
        return number
    }

    private static func unexpected(_ what: String) -> RedisError {
        RedisError(.unexpectedReply, "\(what) in another form than expected")
    }
}

extension Duration {
    /// As Redis counts time; anything under one is one.
    var wholeMilliseconds: Int {
        max(1, Int(clamping: components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000))
    }
}
