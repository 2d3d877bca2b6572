internal import GannetRedisClient

extension BlobStore {
    /// A body that was made of another one and is kept under a key of its own, such as a thumbnail. It counts for the store's limit like any body.
    /// - Parameters:
    ///   - key: A digest of the original and of all that decides how it was changed. So it is no body's own digest.
    ///   - sha256: Computes a digest.
    /// - Returns: Nil where it is not there. A damaged body is removed.
    package func derived(_ key: [UInt8], sha256: ([UInt8]) -> [UInt8]) async throws(StateError) -> [UInt8]? {
        guard let bytes = try await get(digest: key) else { return nil }
        let content = Array(bytes.dropFirst(Self.derivedHead))
        if bytes.count >= Self.derivedHead, sha256(content).elementsEqual(bytes.prefix(Self.derivedHead)) { return content }
        _ = try? await remove(digest: key)
        return nil
    }

    /// Keeps such a body. Its own digest stands before it, because its key is not made of it.
    @discardableResult
    package func putDerived(
        _ key: [UInt8], _ content: [UInt8], limit: Int, sha256: ([UInt8]) -> [UInt8]
    ) async throws(StateError) -> BlobPutAnswer {
        try await put(digest: key, bytes: sha256(content) + content, limit: limit)
    }

    private static var derivedHead: Int { 32 }
}
