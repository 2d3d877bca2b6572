internal import GannetHTTP
package import GannetQueue
internal import GannetRedisClient

/// A place where workers keep bodies, for those who read them. Workers write to it through a ``JobOutput``.
///
/// Readers ask one store after the other, because a store may have a body of which the outcome names another one. Redis keeps bodies by their
/// digest, whoever has fetched them.
package protocol BodyStore: Sendable {
    /// Whether an outcome with this place means this store, as far as the store can tell. It may have the body no more. May block.
    func keeps(_ place: BodyPlace) -> Bool

    /// The bytes of an outcome's body; `nil` where they are not here, or have another size or digest.
    func body(_ content: OutcomeContent) async throws -> [UInt8]?

    /// Whether an export copies bodies from here. It asks other stores for their bytes, and has each body in memory as a whole.
    var copies: Bool { get }

    /// Copies the body into a new file in `target`; `nil` as above. Blocks.
    func copy(_ content: OutcomeContent, to target: BodyFolder) throws -> String?

    /// The bytes of the exchanges of a URL's fetch; `nil` where they are not here, or are others than `place` says.
    func exchanges(of id: URLID, at place: ExchangesPlace) async throws -> [UInt8]?
}

extension BodyStore {
    package var copies: Bool { false }

    package func copy(_ content: OutcomeContent, to target: BodyFolder) -> String? { nil }
}

extension BlobStore: BodyStore {
    package func keeps(_ place: BodyPlace) -> Bool { place == .redis }

    package func body(_ content: OutcomeContent) async throws(StateError) -> [UInt8]? {
        guard let digest = content.digest else { return nil }
        return try await intactBody(digest: digest, size: content.size) { SHA256Digest(of: $0).bytes }
    }

    package func exchanges(of id: URLID, at place: ExchangesPlace) async throws(StateError) -> [UInt8]? {
        try await intactBody(digest: place.digest, size: place.size) { SHA256Digest(of: $0).bytes }
    }
}

extension ClusterState {
    /// The body of an outcome, from the first of `stores` that has it, or from Redis; `nil` if none has it.
    package func body(of outcome: URLOutcome, in stores: [any BodyStore]) async throws -> [UInt8]? {
        let content = outcome.content
        guard content.digest != nil, !outcome.isNegative else { return nil }
        for store in stores { if let body = try await store.body(content) { return body } }
        // A small body delays no other call for long.
        if content.size < Self.smallBody { return try await BlobStore(self).body(content) }
        let connection = try await connect(patience: Self.bodyPatience)
        do {
            let body = try await BlobStore(self, over: connection).body(content)
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
