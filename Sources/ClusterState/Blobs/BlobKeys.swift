internal import RedisClient

/// The keys that the blob store's scripts are called with, and those read without one; `Scripts/Blobs/store.lua` names them all.
struct BlobKeys: Sendable {
    private let tag: String

    init(namespace: String) { tag = "{\(namespace):blob}" }

    var count: RedisArgument { .string(tag + "count") }
    var index: RedisArgument { .string(tag + "s") }
    func blob(_ digest: [UInt8]) -> RedisArgument { .bytes(Array((tag + ":").utf8) + digest) }
}
