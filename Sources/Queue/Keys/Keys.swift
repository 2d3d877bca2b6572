internal import GannetRedisClient

/// The keys that scripts are called with, and the few that are read without a script. The scripts make all other keys from the same hash
/// tag: `Scripts/Parts` names them.
struct Keys: Sendable {
    let tag: String
    private let home: String

    /// - Parameter tag: The partition's hash tag, in its braces.
    init(namespace: String, tag: String) {
        home = "{\(namespace)}"
        self.tag = tag
    }

    /// The clock of the partition: the first key of every script.
    var state: RedisArgument { .string(tag + "state") }
    /// A key of the namespace, which stands in its first partition.
    var schema: RedisArgument { .string(home + "schema") }
    /// A key that never exists. Commands on it show what a user may do. Each script declares it: while a slot moves, Redis refuses a call
    /// whose keys are not all there, so that no script begins which could not write all.
    var none: RedisArgument { .string(tag + "none") }
    /// A key that stands while one script tries what the user may do, and is gone with the script's end.
    var trial: RedisArgument { .string(tag + "trial") }
    var hosts: RedisArgument { .string(tag + "hosts") }
    var locks: RedisArgument { .string(tag + "locks") }
    var leases: RedisArgument { .string(tag + "leases") }
    /// The beginning of the keys of outcomes.
    var outcomes: [UInt8] { Array((tag + "outcome:").utf8) }
    func holder(_ incarnation: [UInt8]) -> RedisArgument { .bytes(Array((tag + "holder:").utf8) + incarnation) }
    func outcome(_ id: URLID) -> RedisArgument { .bytes(outcomes + id.bytes) }

    /// Not a key: the channel on which one process hears that there is work, or that a URL is free again.
    func inbox(_ process: String) -> String { home + "inbox:" + process }
    /// The same for one partition of a cluster, where a channel belongs to a slot. Scripts know such a channel by its name.
    func shardedInbox(_ process: String) -> String { tag + Self.sharded + process }
    static let sharded = "shard:"

    func queue(_ name: String) -> RedisArgument { ofQueue(name, "queue") }
    func batches(of queue: String) -> RedisArgument { ofQueue(queue, "batches") }
    func batch(_ number: Int, of queue: String) -> RedisArgument { ofQueue(queue, "batch:\(number)") }
    func finished(_ number: Int, of queue: String) -> RedisArgument { ofQueue(queue, "finished:\(number)") }
    func ready(_ priority: Priority, of queue: String) -> RedisArgument { ofQueue(queue, "ready:\(priority.rawValue)") }
    func aside(_ host: [UInt8], _ priority: Priority, of queue: String) -> RedisArgument {
        .bytes(Array("\(tag)q:\(queue):aside:\(priority.rawValue):".utf8) + host)
    }
    func followers(_ id: [UInt8], of queue: String) -> RedisArgument { .bytes(Array("\(tag)q:\(queue):followers:".utf8) + id) }
    /// The timers of hosts stand behind the others, at their times and this.
    static let hostsBehind = 1 << 42

    func timers(_ priority: Priority, of queue: String) -> RedisArgument { ofQueue(queue, "timers:\(priority.rawValue)") }
    /// The jobs that were enqueued with the same delay, in milliseconds.
    func delayed(_ delay: Int, _ priority: Priority, of queue: String) -> RedisArgument {
        ofQueue(queue, "delayed:\(priority.rawValue):\(delay)")
    }
    func dead(of queue: String) -> RedisArgument { ofQueue(queue, "dead") }

    private func ofQueue(_ queue: String, _ name: String) -> RedisArgument { .string("\(tag)q:\(queue):\(name)") }
}

/// The keys of a part of the blob store that are named outside its script. `Scripts/bodies.lua` names all.
struct BlobKeys: Sendable {
    private let tag: String

    /// - Parameter tag: The part's hash tag, in its braces.
    init(tag: String) { self.tag = tag }

    var count: RedisArgument { .string(tag + "count") }
    var index: RedisArgument { .string(tag + "s") }
    /// A key that never exists. See ``Keys/none``.
    var none: RedisArgument { .string(tag + "none") }
    var holds: RedisArgument { .string(tag + "holds") }
    /// The types of all three.
    var types: [(key: String, expected: String)] { [(tag + "count", "hash"), (tag + "s", "zset"), (tag + "holds", "zset")] }
    func blob(_ digest: [UInt8]) -> RedisArgument { .bytes(Array((tag + ":").utf8) + digest) }
}
