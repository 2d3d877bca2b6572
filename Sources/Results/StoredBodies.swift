internal import GannetHTTP
package import GannetQueue
internal import GannetRedisClient

// Readers ask the workers' folders one after the other, and then Redis, whichever of them an outcome names: Redis keeps bodies by their digest,
// whoever has fetched them.

extension BlobStore {
    /// The bytes of a body, or of exchanges; `nil` where they are not here, or have another size or digest.
    func intact(_ digest: [UInt8], size: Int) async throws(StateError) -> [UInt8]? {
        try await intactBody(digest: digest, size: size) { SHA256Digest(of: $0).bytes }
    }
}

extension ClusterState {
    /// The body of an outcome, from the first of the workers' folders that has it, or from Redis; `nil` if none has it.
    package func body(of outcome: URLOutcome, in folders: [BodyFolder]) async throws -> [UInt8]? {
        let content = outcome.content
        guard let digest = content.digest, !outcome.isNegative else { return nil }
        for folder in folders { if let body = folder.body(content) { return body } }
        // A small body delays no other call for long.
        if content.size < Self.smallBody { return try await BlobStore(self).intact(digest, size: content.size) }
        let connection = try await connect(patience: Self.bodyPatience)
        do {
            let body = try await BlobStore(self, over: connection).intact(digest, size: content.size)
            await connection.close()
            return body
        } catch {
            await connection.close()
            throw error
        }
    }

    private static let smallBody = 1 << 18

    /// The timeout of calls with large bodies.
    package static let bodyPatience = Duration.seconds(30)
}
