internal import RedisClient

/// One queue of a cluster.
package struct QueueState: Sendable {
    let cluster: ClusterState
    package let name: String

    init(_ cluster: ClusterState, _ name: String) {
        self.cluster = cluster
        self.name = name
    }

    package static let longestName = 128

    func run(_ script: RedisScript, _ arguments: [RedisArgument]) async throws(StateError) -> RedisReply {
        // A colon would make one queue's keys another's.
        let isForbidden = { (byte: UInt8) in byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: ":") }
        guard (1...Self.longestName).contains(name.utf8.count), !name.utf8.contains(where: isForbidden) else {
            throw .invalid("A queue's name has 1 to \(Self.longestName) bytes, no colon and no control characters.")
        }
        return try await cluster.run(script, queue: name, arguments)
    }

    /// Lets the queue's jobs wait; what is in flight goes on. Returns whether it was paused before.
    @discardableResult
    package func pause() async throws(StateError) -> Bool { try await setPaused(true) }

    /// Lets workers claim again. Returns whether the queue was paused.
    @discardableResult
    package func resume() async throws(StateError) -> Bool { try await setPaused(false) }

    private func setPaused(_ isPaused: Bool) async throws(StateError) -> Bool {
        let reply = try await run(ClusterScripts.pause, [.integer(isPaused ? 1 : 0)])
        return try await StateError.wrapping { () throws(RedisError) in try reply.asInteger() == 1 }
    }

    /// Removes the queue with all it holds.
    package func clear() async throws(StateError) {
        while true {
            let reply = try await run(ClusterScripts.clear, [])
            let isLeft = try await StateError.wrapping { () throws(RedisError) in try reply.asInteger() == 1 }
            if !isLeft { return }
        }
    }

    /// Depths and totals, at the same cost for ten jobs and ten million.
    package func counts() async throws(StateError) -> QueueCounts {
        let command = RedisCommand([.string("HMGET"), cluster.keys.count(of: name)] + Self.countedFields)
        let replies = await cluster.connection.pipeline([command, RedisCommand("ZCARD", cluster.keys.dead(of: name))])
        return try await StateError.wrapping { () throws(RedisError) in
            try QueueCounts(try replies[0].get().asArray(), dead: try replies[1].get().asInteger())
        }
    }

    /// The fields of a queue's counters, in the order in which ``QueueCounts`` reads them.
    static let countedFields = (QueueCounts.totals.map(\.name) + ["paused"]).map { RedisArgument.string($0) }
}

extension QueueCounts {
    /// - Parameter fields: The values of ``QueueState/countedFields``.
    init(_ fields: [RedisReply], dead: Int) throws(RedisError) {
        guard fields.count == Self.totals.count + 1 else { throw RedisError(.unexpectedReply, "HMGET in another form than expected") }
        for (field, total) in zip(fields, Self.totals) { self[keyPath: total.path] = try field.asCount() }
        isPaused = try fields[Self.totals.count].asOptionalBytes() != nil
        self.dead = dead
        ready = enqueued - done - failed - cancelled - active - parked - delayed
    }

    fileprivate static var totals: [(name: String, path: WritableKeyPath<QueueCounts, Int>)] {
        [
            ("active", \.active), ("parked", \.parked), ("delayed", \.delayed), ("enqueued", \.enqueued), ("done", \.done),
            ("fetched", \.fetched), ("revalidated", \.revalidated), ("cached", \.cached), ("failed", \.failed),
            ("cancelled", \.cancelled), ("retried", \.retried), ("crashed", \.crashed), ("fenced", \.fenced),
            ("doubleFetches", \.doubleFetches), ("bytes", \.bytes),
        ]
    }
}

extension RedisReply {
    /// A counter's value; one that is not there is zero.
    func asCount() throws(RedisError) -> Int {
        guard let bytes = try asOptionalBytes() else { return 0 }
        guard let number = Int(String(decoding: bytes, as: UTF8.self)) else {
            throw RedisError(.unexpectedReply, "a counter in another form than expected")
        }
        return number
    }
}
