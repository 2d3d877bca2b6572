/// How much a blob store holds.
package struct BlobUsage: Sendable, Equatable {
    package let blobs: Int

    /// Of all bodies together.
    package let bytes: Int

    /// What Redis needs for them, keys and index included; what the limit is for.
    package let memory: Int

    /// Bodies that had to make room, since the store began.
    package let evicted: Int
}
