internal import GannetBase
internal import GannetQueue
internal import GannetRedisClient

/// The stores that an export takes bodies from: those that the command was given, and then Redis.
struct ExportSource: Sendable {
    private let stores: [any BodyStore]
    private let connection: RedisConnection
    private let persistently: Persistence
    let gate = LargeBodyGate()

    /// - Parameter connection: ``close()`` closes it.
    init(_ cluster: ClusterState, over connection: RedisConnection, _ stores: [any BodyStore], patience: Duration) {
        self.stores = stores + [BlobStore(cluster, over: connection)]
        self.connection = connection
        persistently = cluster.persistently(over: connection, patience: patience)
    }

    func close() async { await connection.close() }

    /// Whether one of the stores is the one that this place means. Blocks.
    func keeps(_ place: BodyPlace) -> Bool { stores.contains { $0.keeps(place) } }

    /// Copies a body into a temporary file in `target`; `nil` if no store that copies has it. Blocks.
    func copy(_ content: OutcomeContent, to target: BodyFolder) throws -> String? {
        for store in stores { if let file = try store.copy(content, to: target) { return file } }
        return nil
    }

    /// Hands the bytes of bodies in the other stores to `use`, `nil` for those that are not kept any more. `use` may block.
    func read(_ wanted: [WantedBody], _ use: @escaping @Sendable (WantedBody, [UInt8]?) throws -> Void) async throws {
        try await read(wanted, size: \.content.size, by: { try await $0.copies ? nil : $0.body($1.content) }, use)
    }

    /// The same for exchanges.
    func read(_ wanted: [WantedExchanges], _ use: @escaping @Sendable (WantedExchanges, [UInt8]?) throws -> Void) async throws {
        try await read(wanted, size: \.place.size, by: { try await $0.exchanges(of: $1.id, at: $1.place) }, use)
    }

    private func read<Wanted: Sendable>(
        _ wanted: [Wanted], size: (Wanted) -> Int, by ask: @escaping @Sendable (any BodyStore, Wanted) async throws -> [UInt8]?,
        _ use: @escaping @Sendable (Wanted, [UInt8]?) throws -> Void
    ) async throws {
        try await gate.withRoom(for: wanted.reduce(0) { max($0, size($1)) }) {
            let found = try await withThrowingTaskGroup(of: (Int, [UInt8]?).self, returning: [[UInt8]?].self) { group in
                for (index, one) in wanted.enumerated() {
                    group.addTask {
                        let bytes = try await persistently { () async throws -> [UInt8]? in
                            for store in stores { if let bytes = try await ask(store, one) { return bytes } }
                            return nil
                        }
                        return (index, bytes)
                    }
                }
                return try await group.reduce(into: Array(repeating: nil, count: wanted.count)) { $0[$1.0] = $1.1 }
            }
            try await OwnedThread.run(name: "gannet-folder") { for (one, bytes) in zip(wanted, found) { try use(one, bytes) } }
        }
    }
}
