internal import GannetRedisClient

/// Data of an older schema, which this version can remove and not read.
extension ClusterState {
    /// Whether an older version than this one wrote data of this schema.
    static func isOlder(schema: String) -> Bool {
        func major(_ schema: String) -> Int { Int(schema.prefix { $0 != "." }) ?? .max }
        return major(schema) < major(Self.schema)
    }

    /// Removes a namespace with data of an older schema, some keys at a time. Bodies stay: this version knows their keys. The schema goes
    /// last, so that a removal that was cut short is repeated.
    package static func removeOlderData(_ options: ClusterOptions) async throws(StateError) {
        try await StateError.mapping {
            let connection = try await RedisConnection.connect(options.configuration())
            do {
                try await removeOlderData(of: options.namespace, on: connection)
            } catch {
                await connection.close()
                throw error
            }
            await connection.close()
        }
    }

    private static func removeOlderData(of namespace: String, on connection: RedisConnection) async throws {
        let cluster = ClusterState(connection, namespace: namespace)
        let schema = cluster.home.keys.schema
        guard let found = try await connection.send(RedisCommand("GET", schema)).asOptionalString(), isOlder(schema: found) else { return }
        // Older schemas have no partitions.
        try await cluster.removeKeys(except: schema)
        guard try await cluster.removeKeys(except: schema) == 0 else {
            throw StateError.unfitServer(
                "A process of the older version still writes to the namespace '\(namespace)'. End it, and run the command again.")
        }
        _ = try await connection.send(RedisCommand("DEL", schema))
    }

    /// Removes the keys of the first partition's tag. Returns how many there were.
    @discardableResult
    private func removeKeys(except kept: RedisArgument) async throws -> Int {
        guard case .string(let kept) = kept else { return 0 }
        var count = 0
        var cursor = "0"
        repeat {
            let command = RedisCommand("SCAN", .string(cursor), "MATCH", .string("{\(namespace)}*"), "COUNT", "1000")
            let page = try await connection.send(command, at: home.keys.state).fields(2, of: "SCAN")
            cursor = try page[0].asString()
            let found = try page[1].asArray().map { try $0.asBytes() }
            let keys = found.filter { !$0.elementsEqual(kept.utf8) }.map { RedisArgument.bytes($0) }
            if !keys.isEmpty { count += try await connection.send(RedisCommand([.string("UNLINK")] + keys)).asInteger() }
        } while cursor != "0"
        return count
    }
}
