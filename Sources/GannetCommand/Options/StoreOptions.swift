import CommandLineKit
import Gannet

/// Where bodies are kept.
struct StoreOptions: Sendable {
    /// A folder; `nil` is Redis.
    var folder: String?
    /// Bytes of Redis' memory for bodies.
    var cacheLimit: Int

    private static let store = Flag(
        "store", .folder("redis|dir"), default: "redis", section: .fetching,
        "Where bodies are kept: 'redis', or a folder ('./redis' for one of that name), which several workers may share.")
    static let cache = Flag(
        "cache-limit", .size(in: 1_000_000...1_000_000_000_000), default: "1GB", section: .fetching,
        "The most of Redis' memory that bodies may take. The one not used for longest makes room for a new one.")

    static let flags = [store.entry, cache.entry]

    init(_ arguments: Arguments) throws(UsageError) {
        let name = try arguments.require(Self.store)
        folder = name == "redis" ? nil : name
        cacheLimit = try arguments.require(Self.cache)
    }
}
