package import ClusterState
internal import RedisClient

extension ClusterState {
    /// The body of an outcome: from Redis, or from the folder of the workers that put it there; `nil` where neither has it.
    package func body(of page: Page, in folder: BodyFolder?) async throws(StateError) -> [UInt8]? {
        let content = page.content
        guard let digest = content.digest, !page.isNegative else { return nil }
        if let body = folder?.body(content.fields[.file], size: content.size, digest: digest) { return body }
        let connection = try await connect(patience: Self.bodyPatience)
        let bodies = SharedBodies(store: BlobStore(connection, namespace: namespace), limit: 0, sparing: .zero)
        do throws(StateError) {
            let body = try await bodies.get(digest, count: content.size)
            await connection.close()
            return body
        } catch {
            await connection.close()
            throw error
        }
    }

    /// A large body takes its time.
    package static let bodyPatience = Duration.seconds(30)
}
