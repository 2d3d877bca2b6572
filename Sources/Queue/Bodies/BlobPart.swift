internal import GannetRedisClient

/// The bodies behind one hash tag, within a limit. ``BlobStore`` has one such part, or one for each partition of a cluster, and says what its
/// calls do.
struct BlobPart: Sendable {
    private let connection: RedisConnection
    private let keys: BlobKeys

    init(_ connection: RedisConnection, tag: String) {
        self.connection = connection
        keys = BlobKeys(tag: tag)
    }

    /// One run of a script drops at most a hundred bodies, so that no other call waits long. A call of `put` runs that script at most this
    /// often.
    private static let mostRounds = 100

    func put(_ bodies: [Blob], limit: Int, sparing: Duration) async throws -> [Result<BlobPutAnswer, StateError>] {
        guard (0...Self.largestLimit).contains(limit) else {
            throw StateError.invalid("A blob store's limit is 0 to \(Self.largestLimit) bytes.")
        }
        guard sparing >= .zero else { throw StateError.invalid("No body is spared for less than no time.") }
        let bounds: [RedisArgument] = [.integer(limit), .integer(sparing.wholeMilliseconds)]
        // The same body may come twice.
        var places: [Key: Int] = [:]
        var fitting: [Blob] = []
        let own = bodies.map { body -> Int? in
            guard body.bytes.count <= BlobStore.largestBlob else { return nil }
            let place = places[Key(body), default: fitting.count]
            if place == fitting.count {
                places[Key(body)] = place
                fitting.append(body)
            }
            return place
        }
        let fates = try await fates(of: fitting, bounds)
        let new = fitting.indices.filter { fates[$0] == .write }
        let written = await connection.pipeline(new.map { RedisCommand("SET", keys.blob(fitting[$0].digest), .bytes(fitting[$0].bytes)) })
        var replies = fitting.map { _ in Result<RedisReply, RedisError>?.none }
        for (index, reply) in zip(new, written) { replies[index] = reply }
        var answers: [Result<BlobPutAnswer, StateError>] = []
        for (index, body) in fitting.enumerated() {
            do throws(StateError) {
                answers.append(.success(try await StateError.mapping { try await put(body, fates[index], replies[index], bounds) }))
            } catch {
                answers.append(.failure(error))
            }
        }
        return own.map { $0.map { answers[$0] } ?? .success(.tooLarge) }
    }

    /// A body's digest, hashed in one go and not byte by byte.
    private struct Key: Hashable {
        private let digest: [UInt8]

        init(_ body: Blob) { digest = body.digest }

        func hash(into hasher: inout Hasher) { digest.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }

    private enum Fate: String {
        case present, write, large, full, held, again
    }

    private func fates(of bodies: [Blob], _ bounds: [RedisArgument]) async throws -> [Fate] {
        if bodies.isEmpty { return [] }
        let entries = bodies.flatMap { [RedisArgument.bytes($0.digest), .integer($0.bytes.count), .string($0.batch?.text ?? "")] }
        return try await run(["put"] + bounds + entries).fields(bodies.count, of: "put").map {
            guard let fate = Fate(rawValue: try $0.asString()) else { throw RedisError.form(of: "put") }
            return fate
        }
    }

    /// Goes on after a body's first attempt, until it is written or refused.
    private func put(
        _ body: Blob, _ fate: Fate, _ reply: Result<RedisReply, RedisError>?, _ bounds: [RedisArgument]
    ) async throws -> BlobPutAnswer {
        var (fate, reply, roundsLeft) = (fate, reply, Self.mostRounds)
        while true {
            // The room that is wanted: in the store, or in a Redis that is full.
            var limit = bounds[0]
            switch fate {
            case .present: return .present
            case .large: return .tooLarge
            case .full: return .full
            case .held: return .held
            case .again: break
            case .write:
                do {
                    if let reply {
                        _ = try reply.get()
                    } else {
                        _ = try await connection.send(RedisCommand("SET", keys.blob(body.digest), .bytes(body.bytes)))
                    }
                    return .stored
                } catch {
                    // The entry of a body that was refused goes.
                    _ = try? await run(["refused", .bytes(body.digest), .integer(body.bytes.count)])
                    guard error.kind == .outOfMemory, roundsLeft > 0 else { throw error }
                    roundsLeft -= 1
                    limit = -1
                    let evicted = try await run(["evict", limit, bounds[1], .integer(body.bytes.count)])
                    guard try evicted.asInteger() == 1 else { throw error }
                }
            }
            var isMore = limit != -1
            while isMore {
                guard roundsLeft > 0 else { return .full }
                roundsLeft -= 1
                isMore = try await run(["evict"] + bounds + [.integer(body.bytes.count)]).asInteger() == 1
            }
            fate = try await fates(of: [body], bounds)[0]
            reply = nil
        }
    }

    func areThere(_ bodies: [(digest: [UInt8], size: Int)]) async throws -> [Bool] {
        let replies = await connection.pipeline(bodies.map { RedisCommand("STRLEN", keys.blob($0.digest)) })
        return try zip(bodies, replies).map { try $1.get().asInteger() == $0.size }
    }

    func contains(_ bodies: [(digest: [UInt8], size: Int, batch: HoldingBatch?)]) async throws -> [Bool] {
        let entries = bodies.flatMap { [RedisArgument.bytes($0.digest), .string($0.batch?.text ?? "")] }
        let sizes = try await run(["touch"] + entries).fields(bodies.count, of: "touch")
        return try zip(bodies, sizes).map { try $1.asInteger() == $0.size }
    }

    func get(digest: [UInt8]) async throws -> [UInt8]? {
        let replies = await connection.pipeline([
            RedisCommand("GET", keys.blob(digest)),
            RedisCommand(script: ClusterScripts.bodies, keys: [keys.count, keys.none], arguments: ["touch", .bytes(digest), ""]),
        ])
        // A full or read-only server cannot note the use. The body is there all the same.
        return try replies[0].get().asOptionalBytes()
    }

    func remove(digest: [UInt8]) async throws -> Bool { try await run(["remove", .bytes(digest)]).asInteger() == 1 }

    func hold(_ batch: HoldingBatch) async throws -> Bool { try await run(["hold", .string(batch.text)]).asInteger() == 1 }

    func exported(_ bodies: [(digest: [UInt8], size: Int)], of batch: HoldingBatch) async throws {
        let entries = bodies.flatMap { [RedisArgument.bytes($0.digest), .integer($0.size)] }
        _ = try await run(["exported", .string(batch.text)] + entries)
    }

    func release(_ batch: HoldingBatch) async throws { while try await run(["release", .string(batch.text)]).asInteger() == 1 {} }

    func holdingBatches() async throws -> [HoldingBatch] {
        let found = try await connection.send(RedisCommand("ZRANGE", keys.holds, 0, -1)).asArray()
        return try found.compactMap { HoldingBatch(text: try $0.asString()) }
    }

    func keysOfWrongType() async throws -> [(key: String, expected: String)] {
        let replies = await connection.pipeline(keys.types.map { RedisCommand("TYPE", .string($0.key)) })
        return try zip(keys.types, replies).filter { ![$0.0.expected, "none"].contains(try $0.1.get().asString()) }.map { $0.0 }
    }

    func usage() async throws -> BlobUsage {
        let replies = await connection.pipeline([
            RedisCommand("HMGET", keys.count, "bytes", "memory", "evicted"), RedisCommand("ZCARD", keys.index),
        ])
        let fields = try replies[0].get().fields(3, of: "HMGET")
        do {
            return BlobUsage(
                blobs: try replies[1].get().asInteger(), bytes: try fields[0].asCount(), memory: try fields[1].asCount(),
                evicted: try fields[2].asCount())
        } catch  where error == .damagedCounter {
            throw StateError.damaged(key: keys.types[0].key)
        }
    }

    private static let counters = ["bytes", "memory", "evicted"]
    private static let clock = "clock"

    func damagedCounters() async throws -> [String] {
        let names = Self.counters + [Self.clock]
        let reply = try await connection.send(RedisCommand([.string("HMGET"), keys.count] + names.map { .string($0) }))
        var damaged: [String] = []
        for (name, value) in zip(names, try reply.asArray()) {
            guard let bytes = try value.asOptionalBytes() else { continue }
            let isGood = name == Self.clock ? bytes.count >= Audit.clockLength : Int(inRedis: String(decoding: bytes, as: UTF8.self)) != nil
            if !isGood { damaged.append("'\(name)' of '\(keys.types[0].key)'") }
        }
        return damaged
    }

    private static let largestLimit = 1 << 50

    private func run(_ arguments: [RedisArgument]) async throws -> RedisReply {
        try await connection.run(ClusterScripts.bodies, keys: [keys.count, keys.none], arguments)
    }
}
