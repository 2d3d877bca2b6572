/// A connection to Redis, shared by any number of tasks: to one server, to the primary that Sentinels name, or to all primaries of a
/// Redis Cluster. The caller does not notice which.
///
/// Commands of all callers are sent in their order, in batches, without waiting for replies. A lost connection is restored in the background.
/// Then unsent commands follow on the new connection. Pending commands fail with ``RedisError/Kind/connectionLost``, because only the caller knows
/// whether a command may be repeated.
package final class RedisConnection: Sendable {
    private enum Way: Sendable {
        case server(NodeConnection)
        case cluster(ClusterConnection)
    }

    package let configuration: RedisConfiguration
    private let way: Way

    /// In a cluster: a command does not wait for a server that is away, or silent. It fails within about two seconds.
    private let isImpatient: Bool

    /// Connects. Throws if the first attempt fails at each of the addresses.
    package static func connect(_ configuration: RedisConfiguration) async throws(RedisError) -> RedisConnection {
        let node = try await reach(configuration)
        guard node.server?.mode == .cluster else {
            if configuration.seeds.isEmpty { return RedisConnection(configuration, .server(node)) }
            node.beginClosing()
            throw RedisError(
                .invalidConfiguration,
                "The Redis address names several servers, but \(node.configuration.address) is not in a cluster. Name that one alone, or write "
                    + "redis+sentinel:// for a primary with Sentinels.")
        }
        do throws(RedisError) {
            return RedisConnection(configuration, .cluster(try await ClusterConnection.open(configuration, seed: node)))
        } catch {
            node.beginClosing()
            throw error
        }
    }

    /// Connects to the address, or to the first of several that answers.
    private static func reach(_ configuration: RedisConfiguration) async throws(RedisError) -> NodeConnection {
        if configuration.seeds.isEmpty { return try await NodeConnection.connect(configuration) }
        let addresses = [configuration.address] + configuration.seeds
        let reached = await SeedRace.first(of: addresses) { address throws(RedisError) in
            var one = configuration
            one.address = address
            return try await NodeConnection.connect(one)
        }
        switch reached {
        case .success(let node): return node
        case .failure(let failures): throw failures.error(of: addresses)
        }
    }

    private init(_ configuration: RedisConfiguration, _ way: Way, isImpatient: Bool = false) {
        self.configuration = configuration
        self.way = way
        self.isImpatient = isImpatient
    }

    /// The same connection for callers who do not want to wait for a server of a cluster that is away.
    package func impatient() -> RedisConnection { RedisConnection(configuration, way, isImpatient: true) }

    /// Sends one command and waits for its reply. An error reply is thrown.
    ///
    /// A cancelled call ends at once. If its command was sent, the server may still execute it.
    /// - Parameters:
    ///   - key: In a cluster, a command without a key goes where this key is.
    ///   - timeout: Replaces the configuration's `commandTimeout`, for commands that wait.
    @discardableResult
    package func send(
        _ command: RedisCommand, at key: RedisArgument? = nil, timeout: Duration? = nil
    ) async throws(RedisError) -> RedisReply {
        switch way {
        case .server(let node): return try await node.send(command, timeout: timeout)
        case .cluster(let cluster):
            let slot = command.slot ?? key.map { HashSlot(of: $0) } ?? HashSlot(number: 0)
            let deadline = ContinuousClock.now + (timeout ?? configuration.commandTimeout)
            return try await cluster.send(command, to: slot, deadline: deadline, isImpatient: isImpatient)
        }
    }

    /// Sends commands together and waits for all replies. This is not a transaction: the server may execute commands of other callers in between,
    /// and continues after a failed command. In a cluster, a command without a key goes where the command before it goes, and the first ones
    /// go where the first key is.
    package func pipeline(
        _ commands: [RedisCommand], at key: RedisArgument? = nil, timeout: Duration? = nil
    ) async -> [Result<RedisReply, RedisError>] {
        if commands.isEmpty { return [] }
        switch way {
        case .server(let node): return await node.pipeline(commands, timeout: timeout)
        case .cluster(let cluster):
            return await cluster.pipeline(
                commands, to: key.map { HashSlot(of: $0) }, deadline: .now + (timeout ?? configuration.commandTimeout),
                isImpatient: isImpatient)
        }
    }

    /// Calls a script with its `KEYS` and `ARGV`.
    @discardableResult
    package func run(
        _ script: RedisScript, keys: [RedisArgument], _ arguments: [RedisArgument] = [], timeout: Duration? = nil
    ) async throws(RedisError) -> RedisReply {
        try await send(RedisCommand(script: script, keys: keys, arguments: arguments), timeout: timeout)
    }

    /// The loss of the connection, or the error of the last attempt to restore it; `nil` while it stands. In a cluster this is the error
    /// of a server only where all are away.
    package var failure: RedisError? {
        switch way {
        case .server(let node): node.failure
        case .cluster(let cluster): cluster.failure
        }
    }

    /// Whether an attempt to restore the connection has failed, and none has succeeded since.
    package var isAway: Bool {
        switch way {
        case .server(let node): node.isAway
        case .cluster(let cluster): cluster.isAway
        }
    }

    /// The reason why commands wait: the error of a lost connection, or the server that leaves a command without a reply. Where neither is
    /// known, the server at the address counts as silent.
    package var silence: RedisError {
        switch way {
        case .server(let node): node.failure ?? RedisError(.commandTimeout).at(configuration.address)
        case .cluster(let cluster): cluster.silence
        }
    }

    /// The errors of attempts to restore the connection, and `nil` when one has succeeded after them. A slow reader gets the newest.
    package func outages() -> AsyncStream<RedisError?> {
        switch way {
        case .server(let node): node.outages()
        case .cluster(let cluster): cluster.outages()
        }
    }

    /// Closes the connection and returns when its threads have ended. Waiting calls fail with ``RedisError/Kind/closed``.
    package func close() async {
        switch way {
        case .server(let node): await node.close()
        case .cluster(let cluster): await cluster.close()
        }
    }
}

extension RedisConnection {
    /// A server of a cluster with keys of its own.
    package struct Primary: Sendable, Equatable {
        package let address: RedisAddress

        /// Why no connection to it stands, or that it leaves commands without a reply; `nil` while all is well, or while it was not needed.
        package let failure: RedisError?
    }

    /// Whether the keys are spread over the servers of a cluster.
    package var isCluster: Bool { cluster != nil }

    /// Whether channels belong to slots, as keys do. Before Redis 7 each message goes to all servers of a cluster.
    package var hasShardedChannels: Bool { cluster?.hasShardedChannels ?? false }

    /// The primary that has a key; `nil` for a key without one, and outside a cluster.
    package func primary(of key: RedisArgument) -> Primary? {
        guard let (address, failure) = cluster?.standing(of: HashSlot(of: key)), let address else { return nil }
        return Primary(address: address, failure: failure)
    }

    /// Returns when a server with one of the keys has been away for longer than people wait: for a second, or silent for two. Outside a cluster
    /// that is a connection that could not be restored.
    package func absence(ofServersWith keys: [RedisArgument]) async throws -> RedisError {
        if let cluster { return try await cluster.absence(of: Set(keys.map { HashSlot(of: $0) })) }
        while true {
            try await Task.sleep(for: .milliseconds(50))
            if isAway, let failure { return failure }
        }
    }

    var cluster: ClusterConnection? { if case .cluster(let cluster) = way { cluster } else { nil } }
}
