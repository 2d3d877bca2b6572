internal import RedisClient

/// Every key of a queue. All carry the namespace as their hash tag, so that a script's keys share a slot.
struct QueueKeys: Sendable {
    let ready: RedisArgument
    let known: RedisArgument
    let leases: RedisArgument
    let expiry: RedisArgument
    let count: RedisArgument

    /// Not a key: the channel on which idle workers hear that there is something to do.
    let wakeChannel: String

    private let prefix: String

    init(namespace: String, queue: String) {
        prefix = "{\(namespace)}q:\(queue):"
        ready = .string(prefix + "ready:normal")
        known = .string(prefix + "known")
        leases = .string(prefix + "leases")
        expiry = .string(prefix + "expiry")
        count = .string(prefix + "count")
        wakeChannel = prefix + "wake"
    }

    func batch(_ id: String) -> RedisArgument { .string(prefix + "batch:" + id) }
}
