package import GannetBase
internal import GannetHTTP

/// The values in memory, by URL: all values of a URL are made of one body, and are dropped when another body comes.
///
/// A value needs no body to be used: the facts of its answer say for how long. So values stay when their bodies have made room for others.
final class ValueShelf: Sendable {
    private struct Shelf: Sendable {
        var facts: StoredAnswer
        var values: [ValueName: MadeValue]

        /// An entry takes about half a kilobyte besides its values.
        var cost: Int { values.values.reduce(512 + facts.variableSize) { sum, made in sum.saturatingSum(made.cost) } }
    }

    private let cache: MemoryCache<CacheKey, Shelf>
    /// Held from a look to the change that rests on it. Looks alone do not need it.
    private let change = Mutex(())

    init(_ options: MemoryCacheOptions) { cache = MemoryCache(options) }

    var statistics: TierStatistics { TierStatistics(cache) }

    func value(_ name: ValueName, for key: CacheKey) -> (StoredAnswer, MadeValue)? {
        guard let shelf = cache.value(for: key), let made = shelf.values[name] else { return nil }
        return (shelf.facts, made)
    }

    /// Keeps a value. Values of another body are dropped.
    func keep(_ made: MadeValue, _ name: ValueName, of facts: StoredAnswer, for key: CacheKey) {
        change.withLock { _ in
            var shelf = cache.value(for: key) ?? Shelf(facts: facts, values: [:])
            if shelf.facts.digest != facts.digest { shelf.values = [:] }
            shelf.facts = facts
            shelf.values[name] = made
            cache.insert(shelf, for: key, cost: shelf.cost)
        }
    }

    /// A new answer has come. Values of the same body are now as fresh as the answer, and values of another body are dropped.
    func renew(_ facts: StoredAnswer, for key: CacheKey) {
        guard cache.contains(key) else { return }
        change.withLock { _ in
            guard var shelf = cache.value(for: key) else { return }
            guard shelf.facts.digest == facts.digest else {
                cache.removeValue(for: key)
                return
            }
            shelf.facts = facts
            cache.insert(shelf, for: key, cost: shelf.cost)
        }
    }

    func forget(_ key: CacheKey) { cache.removeValue(for: key) }
    func forgetAll() { cache.removeAll() }
    func trim(toCost limit: Int) { cache.trim(toCost: limit) }
}

extension Int {
    /// A sum that does not overflow: the costs of values are their makers' to choose.
    fileprivate func saturatingSum(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(Swift.max(0, other))
        return overflow ? .max : sum
    }
}

/// How a value is made from a body, and under which name it is kept.
package struct ValueRecipe<Value: Sendable>: Sendable {
    /// Two recipes of one type have different variants if they make different values of one body.
    package var variant: String
    /// The part of the values' limit that a value takes. Without it, the length of its body counts.
    package var cost: (@Sendable (Value) -> Int)?
    package var make: @Sendable ([UInt8]) async throws -> Value

    package init(
        variant: String, cost: (@Sendable (Value) -> Int)? = nil, make: @escaping @Sendable ([UInt8]) async throws -> Value
    ) {
        self.variant = variant
        self.cost = cost
        self.make = make
    }

    var name: ValueName { ValueName(type: ObjectIdentifier(Value.self), variant: variant) }
}

/// A name that tells the values of one body from each other.
struct ValueName: Sendable, Hashable {
    let type: ObjectIdentifier
    let variant: String
}

/// Callers who agree in these share the making of a value.
struct ValueFetchKey: Sendable, Hashable {
    let fetch: SharedFetchKey
    let name: ValueName
}

/// A value of any type, as it is kept.
struct MadeValue: Sendable {
    private let box: any Sendable
    let cost: Int

    init(_ value: some Sendable, cost: Int) {
        box = Box(value: value)
        self.cost = cost
    }

    /// Nil when the value is of another type. The box is compared and not the value: a cast would take nothing for an empty optional.
    func value<Value: Sendable>(as type: Value.Type) -> Value? { (box as? Box<Value>)?.value }

    private struct Box<Value: Sendable>: Sendable { let value: Value }
}

/// The threads for functions of the library's users: transforms, and functions that answer requests.
package enum UserFunctions {
    /// One for each core, and at least four, because some of the functions wait for files or other programs.
    package static let threads = TaskThreads(name: "gannet-user", most: max(4, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
