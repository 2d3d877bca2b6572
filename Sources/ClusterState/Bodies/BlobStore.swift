package import RedisClient

/// Bodies by their SHA-256, in Redis, within a limit.
///
/// The store has its own keys and scripts, and shares no slot with ``ClusterState``: it may be on another server. Each call may be repeated
/// after a lost reply. The reader of a body checks its digest.
package struct BlobStore: Sendable {
    private let connection: RedisConnection
    private let keys: BlobKeys

    package init(_ connection: RedisConnection, namespace: String) {
        self.connection = connection
        keys = BlobKeys(namespace: namespace)
    }

    package static let largestBlob = 100_000_000

    /// A body's bytes are written right after its entry, which nobody may drop until then. It is not much longer: while bodies are spared, the
    /// store takes no more than its limit in this time.
    package static let spared = Duration.seconds(1)

    private static let digestBytes = 32

    /// One run of a script drops at most a hundred bodies, so that no other call waits long. A call of `put` runs that script at most this
    /// often.
    private static let mostRounds = 100

    /// Stores bodies, or notes the use of bodies that are there. The index notes all in one call, and their bytes go in one pipeline.
    /// - Parameters:
    ///   - limit: Bytes of Redis' memory, keys and index included. The body that was unused for longest goes first. Where all bodies are
    ///     spared, the store grows above the limit, by a quarter at most.
    ///   - sparing: No body goes that was used within this time.
    /// - Returns: An answer for each body.
    package func put(
        _ bodies: [Blob], limit: Int, sparing: Duration = Self.spared
    ) async throws(StateError) -> [Result<BlobPutAnswer, StateError>] {
        for body in bodies { try check(body.digest) }
        guard (0...Self.largestLimit).contains(limit) else { throw .invalid("A blob store's limit is 0 to \(Self.largestLimit) bytes.") }
        guard sparing >= .zero else { throw .invalid("No body is spared for less than no time.") }
        let bounds: [RedisArgument] = [.integer(limit), .integer(sparing.wholeMilliseconds)]
        var answers: [Key: Result<BlobPutAnswer, StateError>] = [:]
        var fitting: [Blob] = []
        for body in bodies where answers[Key(body)] == nil {
            answers[Key(body)] = .success(.tooLarge)
            if body.bytes.count <= Self.largestBlob { fitting.append(body) }
        }
        let fates = try await fates(of: fitting, bounds)
        let new = zip(fitting, fates).filter { $1 == .write }.map(\.0)
        let written = await connection.pipeline(new.map { RedisCommand("SET", keys.blob($0.digest), .bytes($0.bytes)) })
        let replies = Dictionary(zip(new.map { Key($0) }, written), uniquingKeysWith: { one, _ in one })
        for (body, fate) in zip(fitting, fates) {
            do throws(StateError) {
                answers[Key(body)] = .success(try await put(body, fate, replies[Key(body)], bounds))
            } catch {
                answers[Key(body)] = .failure(error)
            }
        }
        return bodies.map { answers[Key($0)] ?? .success(.tooLarge) }
    }

    /// A body's digest, hashed in one go and not byte by byte.
    private struct Key: Hashable {
        private let digest: [UInt8]

        init(_ body: Blob) { digest = body.digest }

        func hash(into hasher: inout Hasher) { digest.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }

    private enum Fate: String {
        case present, write, large, full, again
    }

    private func fates(of bodies: [Blob], _ bounds: [RedisArgument]) async throws(StateError) -> [Fate] {
        if bodies.isEmpty { return [] }
        return try await StateError.mapping {
            let entries = bodies.flatMap { [RedisArgument.bytes($0.digest), .integer($0.bytes.count)] }
            return try await run(["put"] + bounds + entries).fields(bodies.count, of: "put").map {
                guard let fate = Fate(rawValue: try $0.asString()) else { throw RedisError.form(of: "put") }
                return fate
            }
        }
    }

    /// Stores one body.
    package func put(digest: [UInt8], bytes: [UInt8], limit: Int, sparing: Duration = Self.spared) async throws(StateError) -> BlobPutAnswer
    {
        try await put([Blob(digest: digest, bytes: bytes)], limit: limit, sparing: sparing)[0].get()
    }

    /// Goes on after a body's first attempt, until it is written or refused.
    private func put(
        _ body: Blob, _ fate: Fate, _ reply: Result<RedisReply, RedisError>?, _ bounds: [RedisArgument]
    ) async throws(StateError) -> BlobPutAnswer {
        try await StateError.mapping {
            var (fate, reply, roundsLeft) = (fate, reply, Self.mostRounds)
            while true {
                // The room that is wanted: in the store, or in a Redis that is full.
                var limit = bounds[0]
                switch fate {
                case .present: return .present
                case .large: return .tooLarge
                case .full: return .full
                case .again: break
                case .write:
                    do {
                        if let reply {
                            _ = try reply.get()
                        } else {
                            _ = try await connection.send(RedisCommand("SET", keys.blob(body.digest), .bytes(body.bytes)))
                        }
                        return .stored
                    } catch let error as RedisError {
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
    }

    /// Whether bodies of these sizes are there. Unlike ``contains(digest:size:)`` this is no use of them.
    func areThere(_ bodies: [(digest: [UInt8], size: Int)]) async throws -> [Bool] {
        let replies = await connection.pipeline(bodies.map { RedisCommand("STRLEN", keys.blob($0.digest)) })
        return try zip(bodies, replies).map { try $1.get().asInteger() == $0.size }
    }

    /// Whether bodies of these sizes are there. Asking counts as a use of a body, like reading it.
    package func contains(_ bodies: [(digest: [UInt8], size: Int)]) async throws(StateError) -> [Bool] {
        for body in bodies { try check(body.digest) }
        return try await StateError.mapping {
            let sizes = try await run(["touch"] + bodies.map { .bytes($0.digest) }).fields(bodies.count, of: "touch")
            return try zip(bodies, sizes).map { try $1.asInteger() == $0.size }
        }
    }

    package func contains(digest: [UInt8], size: Int) async throws(StateError) -> Bool {
        try await contains([(digest, size)])[0]
    }

    /// The bytes of a body; `nil` where it is gone.
    package func get(digest: [UInt8]) async throws(StateError) -> [UInt8]? {
        try check(digest)
        let replies = await connection.pipeline([
            RedisCommand("GET", keys.blob(digest)),
            RedisCommand(script: ClusterScripts.bodies, keys: [keys.count], arguments: ["touch", .bytes(digest)]),
        ])
        // A full or read-only server cannot note the use. The body is there all the same.
        return try await StateError.mapping { try replies[0].get().asOptionalBytes() }
    }

    /// Removes a body. Returns whether it was there.
    @discardableResult
    package func remove(digest: [UInt8]) async throws(StateError) -> Bool {
        try check(digest)
        return try await StateError.mapping { try await run(["remove", .bytes(digest)]).asInteger() == 1 }
    }

    /// The keys of the store that hold something else, with what they have to hold.
    func keysOfWrongType() async throws(StateError) -> [(key: String, expected: String)] {
        let replies = await connection.pipeline(keys.types.map { RedisCommand("TYPE", .string($0.key)) })
        return try await StateError.mapping {
            try zip(keys.types, replies).filter { ![$0.0.expected, "none"].contains(try $0.1.get().asString()) }.map { $0.0 }
        }
    }

    /// How much the store holds. The cost does not depend on the number of bodies.
    package func usage() async throws(StateError) -> BlobUsage {
        let replies = await connection.pipeline([
            RedisCommand("HMGET", keys.count, "bytes", "memory", "evicted"), RedisCommand("ZCARD", keys.index),
        ])
        return try await StateError.mapping {
            let fields = try replies[0].get().fields(3, of: "HMGET")
            return BlobUsage(
                blobs: try replies[1].get().asInteger(), bytes: try fields[0].asCount(), memory: try fields[1].asCount(),
                evicted: try fields[2].asCount())
        }
    }

    private static let largestLimit = 1 << 50

    private func check(_ digest: [UInt8]) throws(StateError) {
        guard digest.count == Self.digestBytes else { throw .invalid("A body's digest has \(Self.digestBytes) bytes.") }
    }

    private func run(_ arguments: [RedisArgument]) async throws -> RedisReply {
        try await connection.run(ClusterScripts.bodies, keys: [keys.count], arguments)
    }
}

extension BlobStore {
    /// A body whose bytes have its digest; `nil` where the body is gone or damaged. A damaged body is removed, so that it is fetched again.
    /// - Parameter sha256: Computes a digest.
    package func intactBody(
        digest: [UInt8], size: Int, sha256: ([UInt8]) -> [UInt8]
    ) async throws(StateError) -> [UInt8]? {
        if size == 0 { return [] }
        guard let bytes = try await get(digest: digest) else { return nil }
        if bytes.count == size, sha256(bytes) == digest { return bytes }
        _ = try? await remove(digest: digest)
        return nil
    }
}

/// A body and its SHA-256.
package struct Blob: Sendable {
    package let digest: [UInt8]
    package let bytes: [UInt8]

    package init(digest: [UInt8], bytes: [UInt8]) {
        self.digest = digest
        self.bytes = bytes
    }
}

/// The answer to storing a body.
package enum BlobPutAnswer: Sendable, Equatable {
    case stored
    /// The body was there already, and its use is noted.
    case present
    /// The body is larger than any body may be, or than the whole store.
    case tooLarge
    /// The store is a quarter above its limit, and all its bodies were used too recently to go. Nothing was stored.
    case full
}

/// How much a blob store holds.
package struct BlobUsage: Sendable, Equatable {
    package let blobs: Int

    /// The bytes of all bodies together.
    package let bytes: Int

    /// Redis' memory for the bodies, keys and index included. The limit bounds this value.
    package let memory: Int

    /// How many bodies had to make room, since the store began.
    package let evicted: Int
}
