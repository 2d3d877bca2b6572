internal import RedisClient

/// The keys that scripts are called with, and the few that are read without a script. The scripts make all other keys from the same hash
/// tag: `Scripts/Library` names them.
struct Keys: Sendable {
    let tag: String

    init(namespace: String) { tag = "{\(namespace)}" }

    /// Counters and clocks of the namespace: the first key of every script.
    var state: RedisArgument { .string(tag + "state") }
    var schema: RedisArgument { .string(tag + "schema") }
    /// A key that never exists. Commands on it show what a user may do.
    var none: RedisArgument { .string(tag + "none") }
    var rules: RedisArgument { .string(tag + "rules") }
    var hosts: RedisArgument { .string(tag + "hosts") }
    var leases: RedisArgument { .string(tag + "leases") }

    /// The counters of callers without a queue.
    var count: RedisArgument { .string(tag + "count") }
    func outcome(_ id: URLID) -> RedisArgument { .bytes(Array((tag + "page:").utf8) + id.bytes) }

    /// Not a key: the channel on which one process hears that there is work, or that a URL is free again.
    func inbox(_ process: String) -> String { tag + "inbox:" + process }

    func count(of queue: String) -> RedisArgument { ofQueue(queue, "count") }
    func batches(of queue: String) -> RedisArgument { ofQueue(queue, "batches") }
    func batch(_ number: Int, of queue: String) -> RedisArgument { ofQueue(queue, "batch:\(number)") }
    func finished(_ number: Int, of queue: String) -> RedisArgument { ofQueue(queue, "finished:\(number)") }
    func due(_ priority: String, of queue: String) -> RedisArgument { ofQueue(queue, "due:\(priority)") }
    func dead(of queue: String) -> RedisArgument { ofQueue(queue, "dead") }

    private func ofQueue(_ queue: String, _ name: String) -> RedisArgument { .string("\(tag)q:\(queue):\(name)") }
}

/// The keys that the blob store's scripts are called with, and the keys that are read without a script. `Scripts/Blobs/store.lua` names
/// them all.
struct BlobKeys: Sendable {
    private let tag: String

    init(namespace: String) { tag = "{\(namespace):blob}" }

    var count: RedisArgument { .string(tag + "count") }
    var index: RedisArgument { .string(tag + "s") }
    func blob(_ digest: [UInt8]) -> RedisArgument { .bytes(Array((tag + ":").utf8) + digest) }
}
