internal import RedisClient

/// Batches: the ledgers of what was accepted.
extension QueueState {
    package static let longestBatchName = 256
    private static let longestSource = 8192

    /// Begins a batch, unless it was begun before; then its options and its source are those of the first time.
    package func begin(batch: String, from source: String = "", options: BatchOptions = .init()) async throws(StateError) -> BatchProgress {
        guard (1...Self.longestBatchName).contains(batch.utf8.count), !batch.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            throw .invalid("A batch's name has 1 to \(Self.longestBatchName) bytes and no control characters.")
        }
        guard source.utf8.count <= Self.longestSource else { throw .invalid("A batch's source has at most \(Self.longestSource) bytes.") }
        if let age = options.maximumAge, age < .zero { throw .invalid("A page cannot be younger than zero seconds.") }
        let reply = try await run(
            ClusterScripts.begin,
            [
                .string(batch), .string(source), .integer(options.priority.rawValue), .integer(options.refresh ? 1 : 0),
                .integer(options.maximumAge.map(\.wholeMilliseconds) ?? -1), .integer(options.deliversBodies ? 1 : 0),
                .bytes(options.headers.bytes), .string(options.trace?.text ?? ""),
            ])
        return try await StateError.wrapping { () throws(RedisError) in
            let fields = try reply.asArray()
            guard fields.count == 6, let state = BatchProgress.State(rawValue: try fields[4].asString()) else {
                throw RedisError(.unexpectedReply, "begin in another form than expected")
            }
            return BatchProgress(
                number: try fields[0].asInteger(), source: try fields[1].asString(), offset: try fields[2].asInteger(),
                total: try fields[3].asInteger(), state: state, headers: RequestHeaders(try fields[5].asBytes()))
        }
    }

    /// Accepts the part of a batch's input between two offsets, once.
    /// - Parameters:
    ///   - closing: The input ends here; the batch is complete when its jobs have ended.
    ///   - delay: Nobody claims the jobs before.
    package func enqueue(
        _ entries: [JobEntry], batch number: Int, from offset: Int, to end: Int, closing: Bool = false, delay: Duration = .zero
    ) async throws(StateError) -> EnqueueAnswer {
        guard entries.count <= Self.largestChunk else { throw .invalid("At most \(Self.largestChunk) jobs are accepted at once.") }
        guard 0 <= offset, offset <= end, end < 1 << 53 else { throw .invalid("An input's offsets go forward from 0.") }
        guard delay >= .zero, delay <= Self.longestDelay else { throw .invalid("A delay is 0 to 365 days.") }
        var arguments: [RedisArgument] = [
            .integer(number), .integer(offset), .integer(end), .integer(closing ? 1 : 0), .integer(delay.wholeMilliseconds),
        ]
        arguments.reserveCapacity(5 + entries.count)
        for entry in entries { arguments.append(.bytes(entry.bytes)) }
        let reply = try await run(ClusterScripts.enqueue, arguments)
        let (answer, state) = try await StateError.wrapping { () throws(RedisError) in
            let fields = try reply.asArray()
            guard fields.count == 4 else { throw RedisError(.unexpectedReply, "enqueue in another form than expected") }
            let answer = EnqueueAnswer(offset: try fields[0].asInteger(), total: try fields[1].asInteger(), open: try fields[2].asInteger())
            return (answer, try fields[3].asString())
        }
        if answer.offset >= end, state != "none" { return answer }
        switch state {
        case "none": throw .unknownBatch
        case "cancelled": throw .batchCancelled
        case "closed": throw .batchClosed
        default: return answer
        }
    }

    package static let largestChunk = 1000
    package static let longestDelay = Duration.seconds(365 * 24 * 3600)

    /// Ends what waits of a batch. What is in flight is finished, and not tried again. Returns how many jobs that were.
    package func cancel(batch number: Int) async throws(StateError) -> Int {
        let reply = try await run(ClusterScripts.cancel, [.integer(number)])
        let ended = try await StateError.wrapping { () throws(RedisError) in try reply.asInteger() }
        guard ended >= 0 else { throw .unknownBatch }
        return ended
    }

    /// The number of a batch that was begun, while it is remembered.
    package func number(ofBatch name: String) async throws(StateError) -> Int? {
        let reply = try await cluster.send(RedisCommand("HGET", cluster.keys.batches(of: self.name), .string(name)))
        return try await StateError.wrapping { () throws(RedisError) in
            try reply.asOptionalBytes().flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        }
    }

    /// What has become of a batch's jobs; `nil` for one that is not known.
    package func counts(ofBatch number: Int) async throws(StateError) -> BatchCounts? {
        let names = ["state", "total", "done", "failed", "cancelled", "active", "parked", "delayed"].map { RedisArgument.string($0) }
        let reply = try await cluster.send(RedisCommand([.string("HMGET"), cluster.keys.batch(number, of: name)] + names))
        return try await StateError.wrapping { () throws(RedisError) in
            let fields = try reply.asArray()
            guard fields.count == names.count else { throw RedisError(.unexpectedReply, "HMGET in another form than expected") }
            guard
                let state = try fields[0].asOptionalBytes().flatMap({ BatchProgress.State(rawValue: String(decoding: $0, as: UTF8.self)) })
            else { return nil }
            return BatchCounts(
                state: state, total: try fields[1].asCount(), done: try fields[2].asCount(), failed: try fields[3].asCount(),
                cancelled: try fields[4].asCount(), active: try fields[5].asCount(), parked: try fields[6].asCount(),
                delayed: try fields[7].asCount())
        }
    }

    /// How many jobs of a batch have ended with an outcome: not those that were cancelled.
    package func finishedCount(ofBatch number: Int) async throws(StateError) -> Int {
        let reply = try await cluster.send(RedisCommand("LLEN", cluster.keys.finished(number, of: name)))
        return try await StateError.wrapping { () throws(RedisError) in try reply.asInteger() }
    }

    /// URLs whose jobs have ended, in that order, from one place to another.
    package func finished(ofBatch number: Int, from first: Int, through last: Int) async throws(StateError) -> [URLID] {
        let key = cluster.keys.finished(number, of: name)
        let reply = try await cluster.send(RedisCommand("LRANGE", key, .integer(first), .integer(last)))
        return try await StateError.wrapping { () throws(RedisError) in
            var ids: [URLID] = []
            for item in try reply.asArray() {
                if let id = URLID(try item.asBytes()) { ids.append(id) }
            }
            return ids
        }
    }
}
