internal import ClusterState
internal import FetchCache
internal import HTTPEngine
internal import RedisClient

/// Where the bodies of a batch are looked for: in the folder of its workers, where that is known, and in Redis.
struct ExportSource: Sendable {
    private let folder: BodyFolder?
    /// A connection of their own: a large body must not stand before what others ask.
    private let connection: RedisConnection
    private let bodies: SharedBodies
    private let persistently: Persistence

    /// Large ones are in memory as a whole, so they come a few at a time.
    private let gate = DownloadGate(places: 2)
    private static let largestBeside = 1 << 20

    init(_ connection: RedisConnection, namespace: String, folder: BodyFolder?, patience: Duration) {
        self.folder = folder
        self.connection = connection
        bodies = SharedBodies(store: BlobStore(connection, namespace: namespace), limit: 0, sparing: .zero)
        persistently = Persistence(patience: patience)
    }

    /// Whether a worker's folder was named.
    var hasFolder: Bool { folder != nil }

    func close() async { await connection.close() }

    /// Runs `body` when there is room in memory for so many bytes.
    func withRoom(for bytes: Int, _ body: () async throws(OutputFailure) -> Void) async throws(OutputFailure) {
        if bytes <= Self.largestBeside { return try await body() }
        let result = await gate.within { () async -> Result<Void, OutputFailure> in
            do throws(OutputFailure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        guard let result else { throw OutputFailure(ClusterError(RedisError(.cancelled))) }
        try result.get()
    }

    /// A temporary file in `target` with the bytes of a body that is in the workers' folder; `nil` where it is not. Blocks.
    func copy(_ wanted: WantedBody, to target: BodyFolder) throws(OutputFailure) -> String? {
        guard let folder, wanted.content.fields[.file] != nil else { return nil }
        let file = try OutputFailure.storing { () throws(StorageFailure) in try BodyFile(in: target.path) }
        guard try folder.copy(wanted.content.fields[.file], size: wanted.content.size, digest: wanted.digest, to: file) else { return nil }
        return try OutputFailure.storing { () throws(StorageFailure) in try file.keep() }
    }

    /// The bytes of bodies that are in Redis, `nil` for those that are not.
    func bytes(of wanted: [WantedBody]) async throws(OutputFailure) -> [[UInt8]?] {
        let results = await withTaskGroup(of: (Int, Result<[UInt8]?, StateError>).self) { group in
            for (index, one) in wanted.enumerated() { group.addTask { (index, await bytes(of: one)) } }
            return await group.reduce(into: [Result<[UInt8]?, StateError>](repeating: .success(nil), count: wanted.count)) {
                $0[$1.0] = $1.1
            }
        }
        var found: [[UInt8]?] = []
        for result in results {
            found.append(try await OutputFailure.wrapping { () throws(StateError) in try result.get() })
        }
        return found
    }

    private func bytes(of wanted: WantedBody) async -> Result<[UInt8]?, StateError> {
        do throws(StateError) {
            return .success(
                try await persistently { () throws(StateError) in try await bodies.get(wanted.digest, count: wanted.content.size) })
        } catch {
            return .failure(error)
        }
    }
}
