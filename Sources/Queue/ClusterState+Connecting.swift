package import GannetRedisClient

/// Which Redis to connect to, and which namespace in it.
package struct ClusterOptions: Sendable {
    /// A URL that begins with `redis://`, `rediss://` or `unix://`. It may hold a password.
    package var redis: String

    /// A file with the password, read at every connect.
    package var passwordFile: String?

    /// PEM certificates to trust for `rediss://` instead of the system's.
    package var authorityFile: String?

    /// The beginning of every key.
    package var namespace = "gannet"

    /// How many partitions a new namespace gets; `nil` for one, or 16 on a cluster. The number of a namespace that is in use never changes.
    package var partitions: Int?

    package var use = ClusterState.Use.begins

    /// How long a queue's call waits for a Redis that is away; zero for a call that fails at once. A worker has its own patience.
    package var patience = Duration.seconds(60)

    /// How long Redis may take to answer a command.
    package var answerTime = usualAnswerTime

    package static let usualAnswerTime = Duration.seconds(10)

    /// No command waits for a server of a cluster that is away. People who look do not want to.
    package var isImpatient = false

    /// Called when a call begins to wait for Redis, and when Redis is back. Workers also report failed claims and renewals.
    package var outage: OutageListener?

    package init(redis: String) { self.redis = redis }

    func configuration() throws -> RedisConfiguration {
        var configuration = try RedisConfiguration(url: redis, passwordFile: passwordFile)
        configuration.tls.authorityFile = authorityFile
        configuration.clientName = "gannet"
        configuration.commandTimeout = answerTime
        return configuration
    }
}

extension ClusterState {
    /// Connects. Throws when the first attempt fails, and when the namespace has another schema.
    package static func connect(_ options: ClusterOptions) async throws(StateError) -> ClusterState {
        try await StateError.mapping {
            var connection = try await RedisConnection.connect(options.configuration())
            if options.isImpatient { connection = connection.impatient() }
            let persistence = Persistence(patience: options.patience, listener: options.outage)
            do {
                return try await open(
                    connection, namespace: options.namespace, partitions: options.partitions, use: options.use, persistence)
            } catch {
                await connection.close()
                throw error
            }
        }
    }

    /// The treatment of a namespace that has no schema.
    package enum Use: Sendable {
        /// The namespace is used from now on.
        case begins
        /// A new namespace stays unused, and is looked at as one with a single partition. A namespace that has other keys has lost its schema, which is an error.
        case looks
        /// As `looks`, and a lost schema is no error.
        case damage
    }

    /// A namespace on a connection that stands.
    /// - Parameter partitions: How many a new namespace gets. Throws where the namespace has another number; `nil` for any.
    package static func open(
        _ connection: RedisConnection, namespace: String, partitions: Int?, use: Use = .begins, _ persistence: Persistence = .once
    ) async throws(StateError) -> ClusterState {
        let wanted = partitions ?? (connection.isCluster ? Partition.usualInCluster : 1)
        guard (1...Partition.most).contains(wanted) else { throw .invalid("A namespace has 1 to \(Partition.most) partitions.") }
        let asked = ClusterState(connection, namespace: namespace, partitions: wanted, persistence: persistence)
        // Only a part of a cluster is waited for: a server that cannot be reached at the start is an error at once. Nobody knows yet which
        // partitions there are.
        var persistently = persistence
        persistently.servers = ServerWatch(connection: connection, partitions: [asked.home])
        let checked = try await persistently { () async throws(StateError) -> Result<ClusterState, StateError> in
            do throws(StateError) {
                return .success(try await asked.checked(use))
            } catch {
                if case .homeAway = error { throw error }
                // The user's own end is no answer.
                if error.isCancellation { throw error }
                return .failure(error)
            }
        }
        let cluster = try checked.get()
        let found = cluster.partitions.count
        if let asked = partitions, asked != found {
            throw .invalid(
                "The namespace '\(namespace)' has \(found) partition\(found == 1 ? "" : "s"), which never changes: "
                    + "ask for that number, for none, or for another namespace.")
        }
        return cluster
    }

    /// Another connection to the same Redis, for calls that take longer than those of the state.
    /// - Parameter longestBackoff: The longest pause between two attempts to connect.
    package func connect(patience: Duration, longestBackoff: Duration? = nil) async throws(StateError) -> RedisConnection {
        try await StateError.mapping {
            var configuration = connection.configuration
            configuration.commandTimeout = patience
            configuration.longestBackoff = min(configuration.longestBackoff, longestBackoff ?? configuration.longestBackoff)
            configuration.shortestBackoff = min(configuration.shortestBackoff, configuration.longestBackoff)
            return try await RedisConnection.connect(configuration)
        }
    }

    /// The same cluster on a connection of its own, whose timeouts are at most these.
    package func another(commandTimeout: Duration, longestBackoff: Duration) async throws(StateError) -> ClusterState {
        var other = self
        let patience = min(connection.configuration.commandTimeout, commandTimeout)
        other.connection = try await connect(patience: patience, longestBackoff: longestBackoff)
        return other
    }

    /// A connection on which the process of this name hears that there is work, or that a URL is free again.
    package func listen(as process: String) async throws(StateError) -> (subscriber: RedisSubscriber, inbox: RedisSubscription) {
        try await StateError.mapping {
            let subscriber = try await RedisSubscriber.connect(connection.configuration)
            return (subscriber, try await subscriber.subscribe(to: inboxes(of: process)))
        }
    }

    package func close() async { await connection.close() }

    /// Sends a write that changes nothing. Throws where the server takes no writes.
    package func tryWriting() async throws(StateError) {
        try await StateError.mapping { _ = try await connection.send(RedisCommand("DEL", home.keys.none)) }
    }

    /// Gives a new namespace this schema and these partitions, and refuses a namespace with another schema. Also throws when the user lacks a
    /// right that every user needs: without this check, a call could stop half done.
    /// - Returns: The cluster with the partitions that the namespace has.
    package func checked(_ use: Use = .begins) async throws(StateError) -> ClusterState {
        try await StateError.mapping {
            guard let schema = try await schemaEntry(use) else {
                var new = self
                new.hasSchema = use == .begins
                return new
            }
            let cluster = try cluster(of: schema)
            let lacking = try await lackingAtHome() + cluster.lackingInPartitions()
            if !lacking.isEmpty {
                let server = connection.primary(of: home.keys.schema)?.address ?? connection.configuration.address
                throw RedisError(lacking: lacking, server: server.description)
            }
            if use == .begins, let error = try await cluster.refusalElsewhere() { throw error }
            return cluster
        }
    }

    /// The schema's entry, which a namespace that begins gets here; `nil` for a namespace without one.
    private func schemaEntry(_ use: Use) async throws -> String? {
        // Of a server that is full, or a replica.
        var refusal: RedisError?
        var reply = try await replies(to: [RedisCommand("GET", home.keys.schema)])[0].mapError(naming)
        if use != .damage, case .success(let value) = reply, try value.asOptionalString() == nil {
            if try await hasLostSchema() { throw StateError.lostSchema(namespace: namespace) }
            if use == .begins {
                let replies = try await replies(to: [RedisCommand("SETNX", home.keys.schema, entry), RedisCommand("GET", home.keys.schema)])
                if case .failure(let error) = replies[0] { refusal = naming(error) }
                if let refusal, refusal.kind == .notPermitted { throw refusal }
                reply = replies[1].mapError(naming)
            }
        }
        if case .failure(let error) = reply, error.kind == .wrongType {
            throw StateError.damagedSchema(key: "{\(namespace)}schema", found: nil)
        }
        if connection.isCluster, case .failure(let error) = reply, error.isTransient {
            throw StateError.homeAway(namespace: namespace, error)
        }
        let entry = try reply.get().asOptionalString()
        // Jobs in a namespace without its number of partitions would be lost to those who take it for another number.
        if entry == nil, let refusal { throw refusal }
        return entry
    }

    /// The cluster with the partitions that a schema's entry names, as in `4/16/spread`.
    private func cluster(of schema: String) throws -> ClusterState {
        let parts = schema.split(separator: "/", omittingEmptySubsequences: false)
        if parts[0] != Self.schema, parts[0].first?.isNumber == true {
            throw StateError.otherSchema(found: String(parts[0].prefix(40)))
        }
        let mark = parts.dropFirst(2).map { "/" + $0 }.joined()
        guard parts[0] == Self.schema, parts.count >= 2, let number = Int(parts[1]), (1...Partition.most).contains(number),
            ["", Self.spreadMark].contains(mark)
        else {
            throw StateError.damagedSchema(key: "{\(namespace)}schema", found: schema)
        }
        return ClusterState(
            connection, namespace: namespace, partitions: number, isSpread: mark == Self.spreadMark, persistence: persistence,
            scripts: scripts)
    }

    /// The replies of the home partition's server. In a cluster it is not waited for when it is away.
    private func replies(to commands: [RedisCommand]) async throws -> [Result<RedisReply, RedisError>] {
        switch try await orGiveUp(home.keys.state, { await connection.pipeline(commands) }) {
        case .success(let replies): return replies
        case .failure(let error): return commands.map { _ in .failure(error.redis ?? RedisError(.unavailable)) }
        }
    }

    /// Says which partitions are away, where that is the reason of an error.
    package func naming(_ error: StateError) -> StateError {
        if case .partly(let sentence, let reason) = error { return .partly(sentence, naming(reason)) }
        guard case .redis(let redis) = error,
            let words = ServerWatch(connection: connection, partitions: partitions).words(about: redis)
        else { return error }
        return .partAway(words: words, redis)
    }

    /// The error about the first partition's keys, in the words that this namespace's rule needs.
    private func naming(_ error: RedisError) -> RedisError {
        guard error.kind == .notPermitted, error.isAboutKeys else { return error }
        return RedisError(lacking: ["~{\(namespace)}*"] + (partitions.count > 1 ? [allKeys] : []), server: error.server)
    }

    /// The value of the schema's key.
    var entry: RedisArgument { .string("\(Self.schema)/\(partitions.count)" + (isSpread ? Self.spreadMark : "")) }

    /// The mark in the schema's entry of a namespace whose partitions are spread over a cluster.
    private static let spreadMark = "/spread"

    /// The beginning of an outage that no call has reported yet, because Redis is silent.
    package var silence: RedisOutage { RedisOutage(naming(.redis(connection.silence))) }

    /// Whether Redis is known not to answer: a lost connection could not be restored at once.
    package var isAway: Bool { connection.isAway }

    /// Outages in which the connection cannot be restored at once.
    package var outages: some AsyncSequence<RedisOutage, Never> & Sendable {
        connection.outages().map { error in error.map { RedisOutage(naming(.redis($0))) } ?? .ended }
    }

    /// Runs `question`, and throws when there is no answer within `time`, or at once where the connection is down.
    package func within<Answer: Sendable>(
        _ time: Duration, _ question: @escaping @Sendable () async throws -> Answer
    ) async throws(StateError) -> Answer {
        try await StateError.mapping {
            if let failure = connection.failure { throw failure }
            if let answer = try await inTime(time, { try await question() }) { return answer }
            try Task.checkCancellation()
            throw connection.silence
        }
    }
}
