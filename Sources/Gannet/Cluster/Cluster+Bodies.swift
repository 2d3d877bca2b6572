internal import ClusterState
internal import FetchCache
internal import HTTPEngine
internal import RedisClient

/// What was fetched: pages, and the bodies that are kept in Redis.
extension Cluster {
    /// A store for the bodies of a worker's jobs; to be closed.
    /// - Parameters:
    ///   - limit: Bytes of Redis' memory, keys and index included.
    ///   - lease: For as long no body goes that was just put there: until its job is settled nobody knows it.
    ///   - temporaryFolder: For large ones, until they are whole.
    package func bodies(
        limit: Int, lease: Duration, temporaryFolder: String, patience: Duration
    ) async throws(ClusterError) -> RedisBodies {
        let connection = try await self.connection(patience: Self.bodyPatience)
        return RedisBodies(
            connection, namespace: namespace, limit: limit, sparing: lease, temporaryFolder: temporaryFolder, patience: patience)
    }

    /// What is known of a URL that is asked for with these headers; `nil` when nothing is, or it is none.
    package func page(of url: String, headers: ExtraHeaders = .none) async throws(ClusterError) -> KnownPage? {
        guard let canonical = try? CanonicalURL(url), let id = URLID(canonical, headers.fields) else { return nil }
        let state = ClusterState(control, namespace: namespace)
        let page = try await ClusterError.wrapping { () throws(StateError) in try await state.page(id) }
        guard let page else { return nil }
        let now = try await ClusterError.wrappingRedis { () throws(RedisError) in
            let parts = try await control.send(RedisCommand("TIME")).asArray()
            guard parts.count == 2, let seconds = Int(String(decoding: try parts[0].asBytes(), as: UTF8.self)) else { return page.ended }
            return seconds * 1000
        }
        return KnownPage(page, now: now)
    }

    /// The body of a page: out of Redis, or out of the folder of the workers that put it there; `nil` where it is in neither.
    package func body(of page: KnownPage, in folder: BodyFolder?) async throws(ClusterError) -> [UInt8]? {
        guard let digest = page.digest, page.failure == nil else { return nil }
        if let body = folder?.body(page.file, size: page.size, digest: digest) { return body }
        let connection = try await self.connection(patience: Self.bodyPatience)
        let bodies = SharedBodies(store: BlobStore(connection, namespace: namespace), limit: 0, sparing: .zero)
        do throws(StateError) {
            let body = try await bodies.get(digest, count: page.size)
            await connection.close()
            return body
        } catch {
            await connection.close()
            throw ClusterError(error)
        }
    }

    /// A large one takes its time.
    static let bodyPatience = Duration.seconds(30)
}
