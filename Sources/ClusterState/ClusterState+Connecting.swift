package import RedisClient

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

    /// How long a queue's call waits for a Redis that is away; zero for a call that fails at once. A worker has its own patience.
    package var patience = Duration.seconds(60)

    /// Called when a call begins to wait for Redis, and when Redis is back. Workers also report failed claims and renewals.
    package var outage: OutageListener?

    package init(redis: String) { self.redis = redis }
}

extension ClusterState {
    /// Connects. Throws when the first attempt fails, and when the namespace has another schema.
    package static func connect(_ options: ClusterOptions) async throws(StateError) -> ClusterState {
        try await StateError.mapping {
            var configuration = try RedisConfiguration(url: options.redis, passwordFile: options.passwordFile)
            configuration.tls.authorityFile = options.authorityFile
            configuration.clientName = "gannet"
            let connection = try await RedisConnection.connect(configuration)
            let persistence = Persistence(patience: options.patience, listener: options.outage)
            let cluster = ClusterState(connection, namespace: options.namespace, persistence: persistence)
            do {
                try await cluster.checkSchema()
            } catch {
                await connection.close()
                throw error
            }
            return cluster
        }
    }

    /// Another connection to the same Redis, for calls that take longer than those of the state.
    package func connect(patience: Duration) async throws(StateError) -> RedisConnection {
        try await StateError.mapping {
            var configuration = connection.configuration
            configuration.commandTimeout = patience
            return try await RedisConnection.connect(configuration)
        }
    }

    /// A connection on which the process of this name hears that there is work, or that a URL is free again.
    package func listen(as process: String) async throws(StateError) -> (subscriber: RedisSubscriber, inbox: RedisSubscription) {
        try await StateError.mapping {
            let subscriber = try await RedisSubscriber.connect(connection.configuration)
            return (subscriber, try await subscriber.subscribe(to: [inbox(of: process)]))
        }
    }

    package func close() async { await connection.close() }

    /// Sends a write that changes nothing. Throws where the server takes no writes.
    package func tryWriting() async throws(StateError) {
        try await StateError.mapping { _ = try await connection.send(RedisCommand("DEL", keys.none)) }
    }

    /// Gives a new namespace this schema, and refuses a namespace with another schema. Also throws when the user lacks a right that every
    /// user needs: without this check, a call could stop half done.
    package func checkSchema() async throws(StateError) {
        try await StateError.mapping {
            let replies = await connection.pipeline([
                RedisCommand("SETNX", keys.schema, .string(Self.schema)), RedisCommand("GET", keys.schema),
            ])
            // A read-only replica refuses the first command. Then only the answer to the second counts.
            if case .failure(let error) = replies[0], error.kind == .notPermitted { throw error }
            guard let found = try replies[1].get().asOptionalString() else { return }
            guard found.prefix(while: { $0 != "." }) == Self.schema.prefix(while: { $0 != "." }) else {
                throw StateError.otherSchema(found: found)
            }
            let rights = try await connection.run(ClusterScripts.rights, keys: [keys.schema, keys.none]).asArray()
            let lacking = try rights.map { try $0.asString() }
            if !lacking.isEmpty { throw RedisError(lacking: lacking, server: connection.configuration.address.description) }
        }
    }

    /// Runs `question`, and throws when there is no answer within `time`.
    package func within<Answer: Sendable>(
        _ time: Duration, _ question: @escaping @Sendable () async throws -> Answer
    ) async throws(StateError) -> Answer {
        let server = "\(connection.configuration.address)"
        return try await StateError.mapping {
            try await withThrowingTaskGroup(of: Answer.self) { group in
                group.addTask(operation: question)
                group.addTask {
                    try await Task.sleep(for: time)
                    throw RedisError(.commandTimeout, server: server)
                }
                defer { group.cancelAll() }
                guard let answer = try await group.next() else { throw CancellationError() }
                return answer
            }
        }
    }
}
