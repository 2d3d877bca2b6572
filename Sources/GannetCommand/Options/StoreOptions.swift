import Crawl
import Results

/// Where bodies are kept.
struct StoreOptions: Sendable {
    /// Folders of workers, in the order in which they are asked. None is Redis.
    var folders: [String]
    /// Bytes of Redis' memory for bodies.
    var cacheLimit: Int

    private static let store = Flag(
        "store", .folder("redis|dir"), default: "redis", section: .fetching,
        "Where bodies are kept: 'redis', or a folder ('./redis' for one of that name), which several workers may share.")
    // A variable may have been set for 'work', whose folder may have any other character in its name.
    private static let toRead = Flag(
        "store", .folder("redis|dir"), default: "redis", isRepeatable: true, separator: "\n", section: .fetching,
        "Where workers keep bodies: 'redis', or their folder. Given again, each is asked in turn; Redis is asked in any case.")
    /// The gateway's own fetches go to Redis. This is for what workers have fetched.
    static let ofGateway = Flag(
        "store", .folder("redis|dir"), default: "redis", isRepeatable: true, separator: "\n", section: .fetching,
        "Where the workers keep bodies: 'redis', or their folder, from which the window shows pictures. Given again, each is asked in turn."
    )
    static let cache = Flag(
        "cache-limit", .size(in: 1_000_000...1_000_000_000_000), default: "1GB", section: .fetching,
        "How much of Redis' memory bodies may take. The body not used for longest makes room for a new one.")

    /// The options of a worker.
    static let flags = [store.entry, cache.entry]
    static let flagsToRead = [toRead.entry, cache.entry]

    init(_ arguments: Arguments) throws {
        // Each command has one of these flags.
        folders = try arguments.all(Self.store).filter { $0 != "redis" }
        cacheLimit = try arguments.require(Self.cache)
    }

    /// The folders that have bodies of workers.
    func openToRead() throws -> [BodyFolder] { try folders.map { try WorkFolder.reading($0) } }
}
