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
        _ call: @escaping @Sendable (BlobPart, [Item]) async throws(StateError) -> [Answer]
    ) async throws(StateError) -> [Answer] {
        if parts.count == 1 {
            for item in items { _ = try part(of: digest(item)) }
            return try await call(parts[0], items)
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
        return try await each(bodies, \.digest) { part, some throws(StateError) in try await part.put(some, limit: share, sparing: sparing)
        }
    }

    /// Stores one body for a mere cache.
    package func put(digest: [UInt8], bytes: [UInt8], limit: Int, sparing: Duration = Self.spared) async throws(StateError) -> BlobPutAnswer
    {
        try await put([Blob(digest: digest, bytes: bytes)], limit: limit, sparing: sparing)[0].get()
    }

    /// Whether bodies of these sizes are there. Unlike ``contains(digest:size:)`` this is no use of them.
    func areThere(_ bodies: [(digest: [UInt8], size: Int)]) async throws -> [Bool] {
        try await each(bodies, \.digest) { part, some throws(StateError) in
            try await StateError.mapping { try await part.areThere(some) }
        }
    }

    /// Whether bodies of these sizes are there. Asking counts as a use of a body, like reading it.
    package func contains(_ bodies: [(digest: [UInt8], size: Int, batch: HoldingBatch?)]) async throws(StateError) -> [Bool] {
        try await each(bodies, \.digest) { part, some throws(StateError) in try await part.contains(some) }
    }

    package func contains(digest: [UInt8], size: Int) async throws(StateError) -> Bool {
        try await contains([(digest, size, batch: nil)])[0]
    }

    /// The bytes of a body; `nil` where it is gone.
    package func get(digest: [UInt8]) async throws(StateError) -> [UInt8]? { try await parts[part(of: digest)].get(digest: digest) }

    /// Removes a body. Returns whether it was there.
    @discardableResult
    package func remove(digest: [UInt8]) async throws(StateError) -> Bool { try await parts[part(of: digest)].remove(digest: digest) }

    /// The keys of the store that hold something else, with what they have to hold.
    func keysOfWrongType() async throws(StateError) -> [(key: String, expected: String)] {
        var wrong: [(key: String, expected: String)] = []
        for part in parts { wrong += try await part.keysOfWrongType() }
        return wrong
    }

    /// The counters that are no numbers, with their keys.
    func damagedCounters() async throws -> [String] {
        var damaged: [String] = []
        for part in parts { damaged += try await part.damagedCounters() }
        return damaged
    }

    /// How much the store holds. The cost does not depend on the number of bodies.
    package func usage() async throws(StateError) -> BlobUsage {
        var usage = BlobUsage(blobs: 0, bytes: 0, memory: 0, evicted: 0)
        for part in parts { usage = usage + (try await part.usage()) }
        return usage
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

    fileprivate init?(text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        self.init(queue: String(text[..<colon]), batch: String(text[text.index(after: colon)...]))
    }
}

extension BlobStore {
    /// The bodies that are used for a batch from now on go only after somebody has exported them.
    /// - Returns: Whether the batch held nothing before.
    func hold(_ batch: HoldingBatch) async throws(StateError) -> Bool {
        var isNew = false
        for part in parts where try await part.hold(batch.text) { isNew = true }
        return isNew
    }

    /// These bodies of a batch are exported. Others may follow.
    package func exported(_ bodies: [(digest: [UInt8], size: Int)], of batch: HoldingBatch) async throws(StateError) {
        _ = try await each(bodies, \.digest) { part, some throws(StateError) in
            try await part.exported(batch.text, some)
            return some.map { _ in true }
        }
    }

    /// The bodies of these batches make room from now on.
    package func release(_ batches: [HoldingBatch]) async throws(StateError) {
        if batches.isEmpty { return }
        for part in parts {
            for batch in batches { try await part.release(batch.text) }
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
        var found: [HoldingBatch] = []
        for part in parts {
            for text in try await part.holds() {
                guard let batch = HoldingBatch(text: text), !found.contains(batch) else { continue }
                found.append(batch)
            }
        }
        return found
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
