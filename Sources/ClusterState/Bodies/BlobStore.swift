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
    private static let digestBytes = 32

    /// A script's copies of a larger body would hold up all other calls: 20 MB took a hundred milliseconds.
    private static let largestInScript = 65_536

    /// One run of a script drops at most a hundred bodies, so that no other call waits long. A call of `put` runs that script at most this
    /// often.
    private static let mostRounds = 100

    /// Stores a body, or notes the use of a body that is there.
    /// - Parameters:
    ///   - limit: Bytes of Redis' memory, keys and index included. The body that was unused for longest goes first. Where all bodies are
    ///     spared, the store grows above the limit, by a quarter at most.
    ///   - sparing: No body goes that was used within this time. The time should be as long as a lease: until a job is settled, no outcome
    ///     names its body.
    package func put(
        digest: [UInt8], bytes: [UInt8], limit: Int, sparing: Duration
    ) async throws(StateError) -> BlobPutAnswer {
        try check(digest)
        guard (0...Self.largestLimit).contains(limit) else { throw .invalid("A blob store's limit is 0 to \(Self.largestLimit) bytes.") }
        guard sparing >= .zero else { throw .invalid("No body is spared for less than no time.") }
        guard bytes.count <= Self.largestBlob else { return .tooLarge }
        let bounds: [RedisArgument] = [.integer(limit), .integer(sparing.wholeMilliseconds)]
        let isLarge = bytes.count > Self.largestInScript
        return try await StateError.mapping {
            var roundsLeft = Self.mostRounds
            while true {
                let answer = try await run(
                    BlobScripts.put, [.bytes(digest), .integer(bytes.count)] + bounds + (isLarge ? [] : [.bytes(bytes)]))
                switch try answer.asString() {
                case "stored":
                    if isLarge { try await write(bytes, digest) }
                    return .stored
                case "present": return .present
                case "large": return .tooLarge
                case "full": return .full
                case "again": break
                default: throw RedisError.form(of: "put")
                }
                var isMore = true
                while isMore {
                    guard roundsLeft > 0 else { return .full }
                    roundsLeft -= 1
                    isMore = try await run(BlobScripts.evict, [.integer(bytes.count)] + bounds).asInteger() == 1
                }
            }
        }
    }

    /// Writes a body whose entry is there. Afterwards the script removes the entry if the server refused the body, and adds it again if it
    /// was evicted in between.
    private func write(_ bytes: [UInt8], _ digest: [UInt8]) async throws {
        let replies = await connection.pipeline([
            RedisCommand("SET", keys.blob(digest), .bytes(bytes)),
            RedisCommand(script: BlobScripts.touch, keys: [keys.count], arguments: [.bytes(digest), .integer(bytes.count)]),
        ])
        for reply in replies { _ = try reply.get() }
    }

    /// Whether a body of this size is there. Asking counts as a use of the body, like reading it.
    package func contains(digest: [UInt8], size: Int) async throws(StateError) -> Bool {
        try check(digest)
        let replies = await connection.pipeline([
            RedisCommand("STRLEN", keys.blob(digest)),
            RedisCommand(script: BlobScripts.touch, keys: [keys.count], arguments: [.bytes(digest)]),
        ])
        return try await StateError.mapping { try replies[0].get().asInteger() == size }
    }

    /// The bytes of a body; `nil` where it is gone.
    package func get(digest: [UInt8]) async throws(StateError) -> [UInt8]? {
        try check(digest)
        let replies = await connection.pipeline([
            RedisCommand("GET", keys.blob(digest)),
            RedisCommand(script: BlobScripts.touch, keys: [keys.count], arguments: [.bytes(digest)]),
        ])
        // A full or read-only server cannot note the use. The body is there all the same.
        return try await StateError.mapping { try replies[0].get().asOptionalBytes() }
    }

    /// Removes a body. Returns whether it was there.
    @discardableResult
    package func remove(digest: [UInt8]) async throws(StateError) -> Bool {
        try check(digest)
        return try await StateError.mapping { try await run(BlobScripts.remove, [.bytes(digest)]).asInteger() == 1 }
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

    private func run(_ script: RedisScript, _ arguments: [RedisArgument]) async throws -> RedisReply {
        try await connection.run(script, keys: [keys.count], arguments)
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
