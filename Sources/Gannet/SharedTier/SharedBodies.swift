internal import ClusterState
internal import FetchCache
internal import HTTPEngine

/// The bodies of shared answers, in Redis within a limit.
struct SharedBodies: Sendable {
    let store: BlobStore
    /// In bytes of Redis' memory.
    let limit: Int
    /// No body goes that was used within this time, since its page may be about to come.
    let sparing: Duration

    /// Stores a body; says why not where it cannot.
    func put(_ digest: [UInt8], _ bytes: [UInt8]) async -> SharedCommit? {
        do throws(StateError) {
            switch try await store.put(digest: digest, bytes: bytes, limit: limit, sparing: sparing) {
            case .stored, .present: return nil
            case .tooLarge: return .refused("The body is too large for the shared cache.")
            case .full: return .refused("The shared cache is full of bodies that are in use.")
            }
        } catch {
            return .unavailable(error.description)
        }
    }

    /// The bytes that have this digest; `nil` where they are gone, or are not what they should be.
    func get(_ digest: [UInt8], count: Int) async throws(StateError) -> [UInt8]? {
        if count == 0 { return [] }
        guard let bytes = try await store.get(digest: digest) else { return nil }
        if bytes.count == count, SHA256Digest(of: bytes).bytes == digest { return bytes }
        _ = try? await store.remove(digest: digest)
        return nil
    }
}
