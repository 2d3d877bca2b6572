internal import GannetHTTP
internal import GannetQueue
internal import GannetRedisClient

/// The places that an export takes bodies from: the folder of the batch's workers, if it is given, and Redis.
struct ExportSource: Sendable {
    private let folder: BodyFolder?
    private let connection: RedisConnection
    private let store: BlobStore
    private let persistently: Persistence
    private let gate = LargeBodyGate()

    /// - Parameter connection: ``close()`` closes it.
    init(_ cluster: ClusterState, over connection: RedisConnection, folder: BodyFolder?, patience: Duration) {
        self.folder = folder
        self.connection = connection
        store = BlobStore(cluster, over: connection)
        persistently = cluster.persistently(over: connection, patience: patience)
    }

    var hasFolder: Bool { folder != nil }

    func close() async { await connection.close() }

    /// Calls `body` when there is room in memory for this number of bytes.
    func withRoom(for bytes: Int, _ body: () async throws -> Void) async throws {
        guard bytes > LargeBodyGate.smallestLarge else { return try await body() }
        try await gate.enter()
        defer { gate.leave() }
        try await body()
    }

    /// Copies a body from the workers' folder into a temporary file in `target`; `nil` if the body is not there. Blocks.
    func copy(_ wanted: WantedBody, to target: BodyFolder) throws -> String? {
        guard let folder, let name = wanted.content.fields[.file] else { return nil }
        let file = try BodyFile(in: target.path, .ordinary)
        return try folder.copy(name, size: wanted.content.size, digest: wanted.digest, to: file) ? file.keep() : nil
    }

    /// The bytes of the exchanges of URLs, `nil` for those that are not kept any more.
    func exchanges(of wanted: [WantedExchanges]) async throws -> [[UInt8]?] {
        try await withThrowingTaskGroup(of: (Int, [UInt8]?).self) { group in
            for (index, one) in wanted.enumerated() {
                group.addTask {
                    if let bytes = folder?.exchanges(of: one.id, at: one.place) { return (index, bytes) }
                    let bytes = try await persistently { () throws(StateError) in
                        try await store.body(digest: one.place.digest, size: one.place.size)
                    }
                    return (index, bytes)
                }
            }
            return try await group.reduce(into: [[UInt8]?](repeating: nil, count: wanted.count)) { $0[$1.0] = $1.1 }
        }
    }

    /// The bytes of bodies that are in Redis, `nil` for those that are not.
    func bytes(of wanted: [WantedBody]) async throws -> [[UInt8]?] {
        try await withThrowingTaskGroup(of: (Int, [UInt8]?).self) { group in
            for (index, one) in wanted.enumerated() {
                group.addTask {
                    let bytes = try await persistently { () throws(StateError) in
                        try await store.body(digest: one.digest, size: one.content.size)
                    }
                    return (index, bytes)
                }
            }
            return try await group.reduce(into: [[UInt8]?](repeating: nil, count: wanted.count)) { $0[$1.0] = $1.1 }
        }
    }
}
