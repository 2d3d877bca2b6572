package import ClusterState
internal import FetchCache
package import HTTPEngine
package import RedisClient

/// Bodies in Redis, by their digest and within a limit: for workers that have no folder in common. The body that was not used for longest makes
/// room for a new one, and whoever asks for it later finds that it has to be fetched again.
package final class RedisBodies: JobOutput {
    /// A connection of their own: a large body must not stand before a renewal.
    private let connection: RedisConnection
    private let bodies: SharedBodies
    private let persistently: Persistence
    private let temporaryFolder: String
    private let gate = DownloadGate(places: mostLarge)

    /// Larger ones wait in temporary files for their turn to go to Redis, a few at a time, since each is in memory then as a whole.
    private static let largestInMemory = 1 << 20
    private static let mostLarge = 2

    /// Where all bodies are in use, for this long it is hoped that some are not any more.
    private static let patienceWhenFull = Duration.seconds(60)
    private static let pauseWhenFull = Duration.milliseconds(500)

    package init(
        _ connection: RedisConnection, namespace: String, limit: Int, sparing: Duration, temporaryFolder: String, patience: Duration
    ) {
        self.connection = connection
        bodies = SharedBodies(store: BlobStore(connection, namespace: namespace), limit: limit, sparing: sparing)
        persistently = Persistence(patience: patience)
        self.temporaryFolder = temporaryFolder
    }

    /// Ends the connection.
    package func close() async { await connection.close() }

    package var bodyDestination: BodyDestination { .memory(upTo: Self.largestInMemory, thenFileIn: temporaryFolder) }

    package func found(_ job: Job) -> HeldBody? { nil }

    package func held(_ page: Page, for job: Job) async throws(OutputFailure) -> HeldBody? {
        guard let digest = page.content.digest else { return nil }
        if page.content.size == 0 { return HeldBody(file: nil) }
        let isThere = try await asking { () throws(StateError) in
            try await bodies.store.contains(digest: digest, size: page.content.size)
        }
        return isThere ? HeldBody(file: nil) : nil
    }

    package func place(_ download: Download, of job: Job) async throws(OutputFailure) -> Placement {
        switch download.body {
        case .bytes(let bytes): return try await place(bytes, digest: download.body.digest, of: job)
        case .file(let path, let digest):
            let placed = await gate.within { () async -> Result<Placement, OutputFailure> in
                do throws(OutputFailure) {
                    return .success(try await place(TemporaryBody.take(path), digest: digest, of: job))
                } catch {
                    return .failure(error)
                }
            }
            guard let placed else {
                TemporaryBody.remove(path)
                throw OutputFailure(ClusterError(RedisError(.cancelled)))
            }
            return try placed.get()
        }
    }

    package func note(_ end: JobEnd, of job: Job) {}

    private func place(_ bytes: [UInt8], digest: SHA256Digest, of job: Job) async throws(OutputFailure) -> Placement {
        if bytes.isEmpty { return .held(HeldBody(file: nil)) }
        let deadline = ContinuousClock.now + Self.patienceWhenFull
        while true {
            let answer = try await asking { () throws(StateError) in
                try await bodies.store.put(digest: digest.bytes, bytes: bytes, limit: bodies.limit, sparing: bodies.sparing)
            }
            switch answer {
            case .stored, .present: return .held(HeldBody(file: nil))
            case .tooLarge:
                let sentence = "its \(bytes.count) bytes do not fit into the shared cache"
                return .refused(FetchError(kind: .tooLarge, url: job.url, detail: sentence))
            case .full:
                guard ContinuousClock.now < deadline, (try? await Task.sleep(for: Self.pauseWhenFull)) != nil else {
                    throw OutputFailure(
                        "The shared cache is full of bodies that are in use: give it more room, or store bodies in a folder."
                    )
                }
            }
        }
    }

    private func asking<Value>(_ call: () async throws(StateError) -> Value) async throws(OutputFailure) -> Value {
        try await OutputFailure.wrapping { () throws(StateError) in try await persistently(call) }
    }
}
