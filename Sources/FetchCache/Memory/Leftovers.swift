/// Entries that have left the cache and are still to be freed, which must not happen under the lock: freeing one may run any code, and that
/// may call the cache. One, the usual number, takes no allocation.
struct Leftovers<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var first: CacheEntry<Key, Value>?
    private var others: [CacheEntry<Key, Value>] = []

    mutating func add(_ entry: CacheEntry<Key, Value>?) {
        if first == nil { first = entry } else if let entry { others.append(entry) }
    }
}
