/// What a user put into the cache.
struct CacheEntry<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let key: Key
    let value: Value
}
