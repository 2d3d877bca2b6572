internal import GannetRedisClient

/// The user's rights are tried before anything is written. A script that is refused on its way would leave half a step behind.
extension ClusterState {
    /// The words that the user's rule lacks at the first partition's server.
    func lackingAtHome() async throws -> [String] {
        let keys = home.keys
        let asked = try await orGiveUp(home.keys.state) {
            try await connection.run(
                ClusterScripts.rights, keys: [keys.schema, keys.none], [""] + commandsOfAll(keys.none, keys.schema)
            ).asArray()
        }
        switch asked {
        case .success(let words): return try words.map { try $0.asString() }
        case .failure(let error):
            throw error.redis.map { StateError.homeAway(namespace: namespace, $0) } ?? StateError.redis(RedisError(.unavailable))
        }
    }

    /// The words that the user's rule lacks for the keys and channels of the partitions behind the first.
    func lackingInPartitions() async throws -> [String] {
        // A partition at the home partition's server, because another server may be away.
        let server = connection.primary(of: home.keys.none)?.address
        guard let other = partitions.dropFirst().first(where: { connection.primary(of: $0.keys.none)?.address == server }) else {
            return []
        }
        // A command that is missing as a whole is known already.
        var probes = [(RedisCommand("EXISTS", other.keys.none), allKeys, "keys")]
        // A slot that moves needs it.
        if connection.isCluster { probes.append((RedisCommand("ASKING"), "+asking", "")) }
        if connection.hasShardedChannels { probes.append((RedisCommand("SPUBLISH", other.keys.none, ""), allChannels, "channel")) }
        return zip(probes, await connection.pipeline(probes.map(\.0), at: other.keys.none)).compactMap { probe, reply in
            guard case .failure(let error) = reply, error.kind == .notPermitted else { return nil }
            return probe.2.isEmpty || error.detail.contains(probe.2) ? probe.1 : nil
        }
    }

    /// The refusal of another server of a cluster, whose users are its own. A server that is away is asked for nothing.
    func refusalElsewhere() async throws -> RedisError? {
        guard connection.isCluster else { return nil }
        let own = connection.primary(of: home.keys.none)?.address
        var firsts: [RedisAddress: Partition] = [:]
        for partition in partitions {
            guard let primary = connection.primary(of: partition.keys.none), primary.address != own, primary.failure == nil else {
                continue
            }
            firsts[primary.address] = firsts[primary.address] ?? partition
        }
        return await withTaskGroup(of: RedisError?.self) { group in
            for (address, partition) in firsts { group.addTask { await refusal(of: address, at: partition.keys) } }
            return await group.reduce(nil) { $0 ?? $1 }
        }
    }

    private func refusal(of server: RedisAddress, at keys: Keys) async -> RedisError? {
        let impatient = connection.impatient()
        do throws(RedisError) {
            let commands = ["make"] + commandsOfAll(keys.none, keys.trial)
            let answer = try await impatient.run(ClusterScripts.rights, keys: [keys.trial, keys.none], commands)
            var words: [String] = []
            for word in try answer.asArray() { words.append(try word.asString()) }
            // The script knows the channels of this partition alone.
            words = words.map { $0.hasPrefix("&") ? allChannels : $0 }
            if !words.isEmpty { return RedisError(lacking: words, server: server.description) }
            try await impatient.send(RedisCommand("ASKING"), at: keys.none)
            return nil
        } catch {
            // A server that is away, or refuses the user as a whole, is waited for later.
            return [.notPermitted, .unexpectedReply].contains(error.kind) ? error : nil
        }
    }

    /// The words of a rule for the keys and channels of all partitions but the first.
    var allKeys: String { "~{\(namespace):*}*" }
    private var allChannels: String { "&{\(namespace):*}*" }

    /// The commands that every user has to have, on a key that never exists or on one of another kind, so that they change nothing. The
    /// commands of people who look after queues, and those of the blob store, are left out.
    /// - Parameters:
    ///   - none: A key that never exists.
    ///   - text: A string.
    /// - Returns: Of each command how many words it has, and its words.
    func commandsOfAll(_ none: RedisArgument, _ text: RedisArgument) -> [RedisArgument] {
        let publish = connection.hasShardedChannels ? "SPUBLISH" : "PUBLISH"
        let groups: [(names: String, rest: [RedisArgument])] = [
            ("TIME", []),
            ("DEL EXISTS GET HGETALL HLEN HRANDFIELD LLEN LPOP MGET PTTL UNLINK ZCARD ZPOPMIN", [none]),
            ("HDEL HEXISTS HGET HMGET \(publish) ZREM ZSCORE", [none, ""]),
            ("GETBIT HSCAN LINDEX", [none, 0]),
            ("RENAME", [none, none]),
            ("LRANGE LTRIM ZCOUNT ZRANGE ZREMRANGEBYRANK", [none, 0, 0]),
            ("HINCRBY HSET HSETNX LPUSH LSET RPUSH ZADD", [text, 0, ""]),
            ("SET", [none, "", "XX"]),
            ("SETNX", [text, ""]),
            // There is no such bit.
            ("SETBIT", [text, -1, 0]),
        ]
        return groups.flatMap { names, rest in
            names.split(separator: " ").flatMap { [.integer(1 + rest.count), .string(String($0))] + rest }
        }
    }
}
