internal import GannetBase
package import GannetRedisClient

/// Bodies by their SHA-256, in Redis, within a limit.
///
/// The store has its own keys and scripts, and shares no slot with ``ClusterState``: it may be on another server. In a cluster it has a part
/// for each partition, and a body's digest says in which part it is. Each call may be repeated after a lost reply. The reader of a body checks
/// its digest.
package struct BlobStore: Sendable {
    private let parts: [BlobPart]

    /// The store of a namespace.
    /// - Parameter connection: The connection to use instead of the cluster's own, because large bodies take their time.
    package init(_ cluster: ClusterState, over connection: RedisConnection? = nil) {
        let name = cluster.namespace + ":blob"
        let tags = cluster.isSpread ? SpreadTags.of(name, count: cluster.partitions.count) : ["{\(name)}"]
        parts = tags.map { BlobPart(connection ?? cluster.connection, tag: $0) }
    }

    package static let largestBlob = 100_000_000

    /// A body's bytes are written right after its entry, which nobody may drop until then. It is not much longer: while bodies are spared, the
    /// store takes no more than its limit in this time.
    package static let spared = Duration.seconds(1)

    private static let digestBytes = 32

    /// A call with bodies of several parts waits for all of them. A caller that makes a call for each part waits for that part alone.
    package var partCount: Int { parts.count }

    /// The number of the part that a body belongs to.
    package func part(of digest: [UInt8]) throws(StateError) -> Int {
        guard digest.count == Self.digestBytes else { throw .invalid("A body's digest has \(Self.digestBytes) bytes.") }
        return parts.count == 1 ? 0 : (Int(digest[0]) << 8 + Int(digest[1])) % parts.count
    }

    /// Makes one call for each part that is concerned, side by side, and puts the answers in the order of `items`.
    private func each<Item: Sendable, Answer: Sendable>(
        _ items: [Item], _ digest: (Item) -> [UInt8],
        _ call: @escaping @Sendable (BlobPart, [Item]) async throws -> [Answer]
    ) async throws(StateError) -> [Answer] {
        if parts.count == 1 {
            for item in items { _ = try part(of: digest(item)) }
            return try await StateError.mapping { try await call(parts[0], items) }
        }
        var indices: [Int: [Int]] = [:]
        for (index, item) in items.enumerated() { indices[try part(of: digest(item)), default: []].append(index) }
        let groups = indices.map { (part: $0, indices: $1, items: $1.map { items[$0] }) }
        return try await StateError.mapping {
            try await withThrowingTaskGroup(of: ([Int], [Answer]).self) { tasks in
                for group in groups { tasks.addTask { (group.indices, try await call(parts[group.part], group.items)) } }
                var answers = [Answer?](repeating: nil, count: items.count)
                for try await (indices, some) in tasks {
                    for (index, answer) in zip(indices, some) { answers[index] = answer }
                }
                return answers.compactMap { $0 }
            }
        }
    }

    /// Stores bodies, or notes the use of bodies that are there. The index notes all of a part in one call, and their bytes go in one pipeline.
    /// - Parameters:
    ///   - limit: Bytes of Redis' memory, keys and index included. The body that was unused for longest goes first. Where all bodies are
    ///     spared, the store grows above the limit, by a quarter at most.
    ///   - sparing: No body goes that was used within this time.
    /// - Returns: An answer for each body.
    package func put(
        _ bodies: [Blob], limit: Int, sparing: Duration = Self.spared
    ) async throws(StateError) -> [Result<BlobPutAnswer, StateError>] {
        let share = limit / parts.count
        return try await each(bodies, \.digest) { part, some in try await part.put(some, limit: share, sparing: sparing) }
    }

    /// Stores one body for a mere cache.
    package func put(digest: [UInt8], bytes: [UInt8], limit: Int, sparing: Duration = Self.spared) async throws(StateError) -> BlobPutAnswer
    {
        try await put([Blob(digest: digest, bytes: bytes)], limit: limit, sparing: sparing)[0].get()
    }

    /// Whether bodies of these sizes are there. Unlike ``contains(_:)`` this is no use of them.
    func areThere(_ bodies: [(digest: [UInt8], size: Int)]) async throws -> [Bool] {
        try await each(bodies, \.digest) { part, some in try await part.areThere(some) }
    }

    /// Whether bodies of these sizes are there. Asking counts as a use of a body, like reading it.
    package func contains(_ bodies: [(digest: [UInt8], size: Int, batch: HoldingBatch?)]) async throws(StateError) -> [Bool] {
        try await each(bodies, \.digest) { part, some in try await part.contains(some) }
    }

    /// The bytes of a body; `nil` where it is gone.
    package func get(digest: [UInt8]) async throws(StateError) -> [UInt8]? {
        try await StateError.mapping { try await parts[part(of: digest)].get(digest: digest) }
    }

    /// Removes a body. Returns whether it was there.
    @discardableResult
    package func remove(digest: [UInt8]) async throws(StateError) -> Bool {
        try await StateError.mapping { try await parts[part(of: digest)].remove(digest: digest) }
    }

    /// The keys of the store that hold something else, with what they have to hold.
    func keysOfWrongType() async throws -> [(key: String, expected: String)] { try await gathered { try await $0.keysOfWrongType() } }

    /// The counters that are no numbers, and clocks that are no clocks, with their keys.
    func damagedCounters() async throws -> [String] { try await gathered { try await $0.damagedCounters() } }

    private func gathered<Found>(_ call: (BlobPart) async throws -> [Found]) async throws -> [Found] {
        var all: [Found] = []
        for part in parts { all += try await call(part) }
        return all
    }

    /// How much the store holds. The cost does not depend on the number of bodies.
    package func usage() async throws(StateError) -> BlobUsage {
        try await StateError.mapping {
            var usage = BlobUsage(blobs: 0, bytes: 0, memory: 0, evicted: 0)
            for part in parts { usage = usage + (try await part.usage()) }
            return usage
        }
    }
}

/// A batch whose bodies stay until somebody has exported them.
package struct HoldingBatch: Sendable, Hashable {
    package let queue: String
    package let batch: String

    package init(queue: String, batch: String) {
        self.queue = queue
        self.batch = batch
    }

    /// A queue's name has no colon.
    var text: String { "\(queue):\(batch)" }

    init?(text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        self.init(queue: String(text[..<colon]), batch: String(text[text.index(after: colon)...]))
    }
}

extension BlobStore {
    /// The bodies that are used for a batch from now on go only after somebody has exported them.
    /// - Returns: Whether the batch held nothing before.
    func hold(_ batch: HoldingBatch) async throws(StateError) -> Bool {
        try await StateError.mapping { try await gathered { [try await $0.hold(batch)] }.contains(true) }
    }

    /// These bodies of a batch are exported. Others may follow.
    package func exported(_ bodies: [(digest: [UInt8], size: Int)], of batch: HoldingBatch) async throws(StateError) {
        _ = try await each(bodies, \.digest) { part, some in
            try await part.exported(some, of: batch)
            return some.map { _ in true }
        }
    }

    /// The bodies of these batches make room from now on.
    package func release(_ batches: [HoldingBatch]) async throws(StateError) {
        try await StateError.mapping {
            for part in parts {
                for batch in batches { try await part.release(batch) }
            }
        }
    }

    /// Releases batches that their queues know no more, of the first that hold bodies: these stand in the way.
    package func releaseForgotten(in cluster: ClusterState) async throws(StateError) {
        var forgotten: [HoldingBatch] = []
        for batch in try await holdingBatches().prefix(Self.mostLookedAt)
        where try await cluster.queue(batch.queue).number(ofBatch: batch.batch) == nil { forgotten.append(batch) }
        try await release(forgotten)
    }

    private static let mostLookedAt = 100

    /// The batches whose bodies stay, those that began first before the others.
    package func holdingBatches() async throws(StateError) -> [HoldingBatch] {
        try await StateError.mapping {
            try await gathered { try await $0.holdingBatches() }.reduce(into: [HoldingBatch]()) { if !$0.contains($1) { $0.append($1) } }
        }
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
    /// The batch that needs it until somebody has exported it; nil for a mere cache.
    package let batch: HoldingBatch?

    package init(digest: [UInt8], bytes: [UInt8], for batch: HoldingBatch? = nil) {
        self.digest = digest
        self.bytes = bytes
        self.batch = batch
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
    /// The store is at its limit, and all that is left belongs to batches that nobody has exported. Nothing was stored.
    case held
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

    static func + (one: BlobUsage, other: BlobUsage) -> BlobUsage {
        BlobUsage(
            blobs: one.blobs + other.blobs, bytes: one.bytes + other.bytes, memory: one.memory + other.memory,
            evicted: one.evicted + other.evicted)
    }
}

extension BlobStore {
    /// A body that was made of another one and is kept under a key of its own, such as a thumbnail. It counts for the store's limit like any body.
    /// - Parameters:
    ///   - key: A digest of the original and of all that decides how it was changed. So it is no body's own digest.
    ///   - sha256: Computes a digest.
    /// - Returns: Nil where it is not there. A damaged body is removed.
    package func derived(_ key: [UInt8], sha256: ([UInt8]) -> [UInt8]) async throws(StateError) -> [UInt8]? {
        guard let bytes = try await get(digest: key) else { return nil }
        let content = Array(bytes.dropFirst(Self.derivedHead))
        if bytes.count >= Self.derivedHead, sha256(content).elementsEqual(bytes.prefix(Self.derivedHead)) { return content }
        _ = try? await remove(digest: key)
        return nil
    }

    /// Keeps such a body. Its own digest stands before it, because its key is not made of it.
    @discardableResult
    package func putDerived(
        _ key: [UInt8], _ content: [UInt8], limit: Int, sha256: ([UInt8]) -> [UInt8]
    ) async throws(StateError) -> BlobPutAnswer {
        try await put(digest: key, bytes: sha256(content) + content, limit: limit)
    }

    private static var derivedHead: Int { 32 }
}
