internal import GannetBase
package import GannetRedisClient

/// The state of the cluster in Redis: a namespace on a connection. Only this target knows its keys, formats and scripts.
///
/// Each call is one script, and may be repeated after a lost reply. A chunk is not accepted twice, the same claim brings the same jobs, and
/// an outcome that was written gets the same answer. Random numbers and ids are parameters.
package struct ClusterState: Sendable {
    package internal(set) var connection: RedisConnection
    package let namespace: String
    package let partitions: [Partition]

    /// Whether the partitions' slots are spread over a cluster. A namespace keeps what it began with.
    let isSpread: Bool

    /// How long the calls of its queues wait for a Redis that is away.
    let persistence: Persistence

    let scripts: ClusterScripts

    /// False for a namespace that nobody uses yet, or that has lost its schema.
    var hasSchema = true

    /// - Parameters:
    ///   - isSpread: See ``isSpread``; `nil` for a new namespace.
    ///   - scripts: Tests have long lists of short parts.
    package init(
        _ connection: RedisConnection, namespace: String, partitions: Int = 1, isSpread: Bool? = nil, persistence: Persistence = .once,
        scripts: ClusterScripts = .standard
    ) {
        self.connection = connection
        self.scripts = scripts
        self.namespace = namespace
        self.persistence = persistence
        self.isSpread = isSpread ?? connection.isCluster
        self.partitions = Partition.all(partitions, of: namespace, isSpread: self.isSpread)
    }

    /// The same state for callers who do not want to wait for a server of a cluster that is away.
    package var impatient: ClusterState {
        var other = self
        other.connection = connection.impatient()
        return other
    }

    /// The schema of the data that this version writes. Data of another schema is refused.
    package static let schema = "4"

    /// A queue whose calls wait longer for Redis than those of the cluster's other queues, and tell the same listener.
    package func queue(_ name: String, patience: Duration) -> FetchQueue {
        var persistence = persistence
        persistence.patience = patience
        return FetchQueue(self, name, persistence)
    }

    /// Repeats calls over another connection of the cluster, and tells the same listener.
    package func persistently(over connection: RedisConnection, patience: Duration) -> Persistence {
        var persistence = persistence
        persistence.patience = patience
        persistence.servers = ServerWatch(connection: connection, partitions: partitions)
        return persistence
    }

    /// - Parameter persistence: The queue's own patience; `nil` for the patience of the cluster's other queues.
    package func queue(_ name: String, _ persistence: Persistence? = nil) -> FetchQueue {
        FetchQueue(self, name, persistence ?? self.persistence)
    }

    /// The channels on which the process of this name hears that there is work, or that a URL is free again.
    package func inboxes(of process: String) -> Set<String> { Set(partitions.map { inbox(of: process, in: $0) }) }

    /// The channel for news of one partition. In a cluster it is heard and spoken to at the partition's own server.
    package func inbox(of process: String, in partition: Partition) -> String {
        connection.hasShardedChannels ? partition.keys.shardedInbox(process) : home.keys.inbox(process)
    }

    /// Sends a message to all listeners of a channel. Returns how many there are.
    package func publish(_ message: [UInt8], to channel: String) async throws(StateError) -> Int {
        let name: RedisArgument = channel.firstRange(of: "}" + Keys.sharded) != nil ? "SPUBLISH" : "PUBLISH"
        return try await StateError.mapping { try await connection.send(RedisCommand(name, .string(channel), .bytes(message))).asInteger() }
    }

    /// Queue time in ms: the time of Redis, shifted so that it never decreases.
    package func now() async throws(StateError) -> Int { try await now(in: home) }

    package func now(in partition: Partition) async throws(StateError) -> Int {
        try await StateError.mapping {
            let replies = await connection.pipeline(clock(of: partition))
            return try partition.keys.naming { try Self.now(replies) }
        }
    }

    /// The commands whose replies tell queue time.
    func clock(of partition: Partition) -> [RedisCommand] {
        [RedisCommand("TIME"), RedisCommand("HGET", partition.keys.state, "clock")]
    }

    static func now(_ replies: [Result<RedisReply, RedisError>]) throws -> Int {
        let time = try replies[0].get().fields(2, of: "TIME")
        guard let seconds = Int(inRedis: try time[0].asString()), let micros = Int(inRedis: try time[1].asString()),
            0..<1 << 40 ~= seconds
        else { throw RedisError.form(of: "TIME") }
        let wall = seconds * 1000 + micros / 1000
        guard let stored = try replies[1].get().asOptionalBytes() else { return wall }
        var reader = ByteReader(stored)
        guard let seen = reader.number(6), let shift = reader.number(6) else { throw RedisError.damagedClock }
        // After the clock was set back, queue time stands still at the last moment seen, as it does for every script.
        return max(wall, seen) + shift
    }

    /// Lease time as the last call has left it: it goes on only while somebody calls.
    static func leaseTime(inClock clock: [UInt8]) -> Int {
        var reader = ByteReader(clock)
        _ = reader.bytes(12)
        return reader.number(6) ?? 0
    }

    func run(
        _ script: RedisScript, in partition: Partition, queue: String? = nil, _ arguments: [RedisArgument]
    ) async throws -> RedisReply {
        var scriptKeys = [partition.keys.state]
        if let queue { scriptKeys.append(partition.keys.queue(queue)) }
        scriptKeys.append(partition.keys.none)
        return try await connection.run(script, keys: scriptKeys, arguments)
    }

    /// A key at each server that has partitions: the place for commands that have no key.
    var places: [RedisArgument] { distinctPlaces(partitions) }

    func distinctPlaces(_ partitions: [Partition]) -> [RedisArgument] {
        var seen: Set<RedisAddress?> = []
        return partitions.map(\.keys.state).filter { seen.insert(connection.primary(of: $0)?.address).inserted }
    }

    /// The answers to commands that are sent together. The first error among them is thrown.
    func answers(to commands: [RedisCommand]) async throws -> [RedisReply] {
        try await connection.pipeline(commands).map { try $0.get() }
    }

    /// The same, with the queue time at which they were given.
    func answers(to commands: [RedisCommand], in partition: Partition) async throws -> (now: Int, answers: [RedisReply]) {
        let clock = clock(of: partition)
        let replies = await connection.pipeline(clock + commands)
        return (try partition.keys.naming { try Self.now(replies) }, try replies.dropFirst(clock.count).map { try $0.get() })
    }
}

/// `SCAN`, `HSCAN` and `ZSCAN`: they read many elements a page at a time.
extension ClusterState {
    /// One page.
    /// - Parameters:
    ///   - key: `nil` for the keys of a server.
    ///   - pattern: Only elements whose name matches it.
    ///   - place: A key of the server.
    /// - Returns: `next` is the cursor of the next page, or "0" after the last.
    func page(
        _ command: String, _ key: RedisArgument? = nil, from cursor: String, matching pattern: RedisArgument? = nil, count: Int = 500,
        at place: RedisArgument? = nil
    ) async throws -> (items: [RedisReply], next: String) {
        var arguments: [RedisArgument] = [.string(command)]
        if let key { arguments.append(key) }
        arguments.append(.string(cursor))
        if let pattern { arguments += ["MATCH", pattern] }
        arguments += ["COUNT", .integer(count)]
        let fields = try await connection.send(RedisCommand(arguments), at: place).fields(2, of: command)
        return (try fields[1].asArray(), try fields[0].asString())
    }

    /// All pages, one after the other.
    func scan(
        _ command: String, _ key: RedisArgument? = nil, matching pattern: RedisArgument? = nil, count: Int = 500,
        at place: RedisArgument? = nil, _ body: ([RedisReply]) async throws -> Void
    ) async throws {
        var cursor = "0"
        repeat {
            let (items, next) = try await page(command, key, from: cursor, matching: pattern, count: count, at: place)
            try await body(items)
            cursor = next
        } while cursor != "0"
    }
}

extension Duration {
    /// Whole milliseconds for Redis. A duration above zero is at least one, and the longest is some centuries.
    var wholeMilliseconds: Int {
        guard self > .zero else { return 0 }
        // Lua's numbers are exact up to this many.
        let longest = Int64(1) << 43
        let whole = Int(min(components.seconds, longest / 1000)) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
        return max(1, whole)
    }
}
