import GannetTestKit
import Testing

@testable import GannetRedisClient

/// The client and a real cluster: three primaries, each with a replica.
@Suite struct ClusterTests {
    private static func connect(
        _ cluster: RedisCluster, _ change: (inout RedisConfiguration) -> Void = { _ in }
    ) async throws -> RedisConnection {
        var configuration = try RedisConfiguration(url: cluster.url)
        configuration.shortestBackoff = .milliseconds(1)
        configuration.longestBackoff = .milliseconds(20)
        change(&configuration)
        return try await RedisConnection.connect(configuration)
    }

    /// The cluster that tests share which change nothing about it.
    private static let shared = Task { try await RedisCluster.start() }

    @Test func `keys go to their servers, from the address of any node`() async throws {
        let cluster = try await Self.shared.value
        for node in cluster.nodes {
            let connection = try await RedisConnection.connect(node.configuration)
            #expect(connection.isCluster)
            for key in (0..<30).map({ "keys:\($0)" }) {
                try await connection.send(RedisCommand("SET", .string(key), .string(key)))
                #expect(try await connection.send(RedisCommand("GET", .string(key))).asString() == key)
            }
            #expect(connection.cluster?.primaries.count == 3)
            await connection.close()
        }
        for node in cluster.nodes.prefix(3) {
            guard case .integer(let keys) = try await node.command("DBSIZE") else { return }
            #expect(keys > 0)
        }
    }

    @Test func `a pipeline over several servers has its answers in order`() async throws {
        let connection = try await Self.connect(try await Self.shared.value)
        let keys = (0..<200).map { RedisArgument.string("pipeline:\($0)") }
        for result in await connection.pipeline(keys.enumerated().map { RedisCommand("SET", $1, .integer($0)) }) { _ = try result.get() }
        let values = await connection.pipeline(keys.map { RedisCommand("GET", $0) })
        #expect(try values.map { try $0.get().asString() } == (0..<200).map(String.init))
        // A command without a key goes where its neighbour goes.
        let mixed = await connection.pipeline([
            RedisCommand("TIME"), RedisCommand("GET", keys[0]), RedisCommand("NOSUCH"), RedisCommand("GET", keys[9]),
        ])
        #expect(try mixed[0].get().asArray().count == 2)
        #expect(try mixed[1].get().asString() == "0" && mixed[3].get().asString() == "9")
        #expect(throws: RedisError.self) { try mixed[2].get() }
        await connection.close()
    }

    @Test func `scripts run at the server of their keys, which learns them there`() async throws {
        let connection = try await Self.connect(try await Self.shared.value)
        let script = RedisScript("return redis.call('INCR', KEYS[1]) + #ARGV -- \(UInt64.random(in: .min ... .max))")
        for number in 0..<12 {
            #expect(
                try await connection.run(script, keys: [.string("{script:\(number)}a"), .string("{script:\(number)}b")], ["x"]).asInteger()
                    == 2)
        }
        await connection.close()
    }

    @Test func `an address that only the cluster gives is said to be the cluster's`() async throws {
        let cluster = try await RedisCluster.start(replicas: 0)
        let asked = try #require(cluster.nodes.first)
        // Port 1 stands for an address that is right for the cluster's own hosts and not for this one.
        let wrong = try #require(cluster.nodes.last)
        try await wrong.command("CONFIG", "SET", "cluster-announce-port", "1")
        try await eventually("the node that is asked has heard of the port") {
            try await asked.command("CLUSTER", "NODES").text?.contains(":1@") == true
        }
        var configuration = asked.configuration
        configuration.commandTimeout = .seconds(2)
        let connection = try await RedisConnection.connect(configuration)
        let results = await connection.pipeline((0..<200).map { "given:\($0)" }.map { RedisCommand("GET", .string($0)) })
        let errors = results.compactMap { result -> String? in if case .failure(let error) = result { error.description } else { nil } }
        #expect(errors.contains { $0.contains("The cluster gave this address") && $0.contains("cluster-announce-ip") }, "\(Set(errors))")
        await connection.close()
        let own = await #expect(throws: RedisError.self, "an address that the user gave is the user's") {
            try await RedisConnection.connect(RedisConfiguration(url: "redis://127.0.0.1:1"))
        }
        #expect(own?.description.contains("The cluster gave") == false)
    }

    @Test func `a slot that moves answers from both its servers, and afterwards from the new one`() async throws {
        let cluster = try await RedisCluster.start(replicas: 0)
        let connection = try await Self.connect(cluster)
        let keys = (0..<40).map { "{moving}\($0)" }
        for key in keys { try await connection.send(RedisCommand("SET", .string(key), .string(key))) }
        let slot = try await cluster.slot(of: keys[0])
        let source = try await cluster.owner(of: slot)
        let target = try #require(cluster.nodes.first { $0 !== source })
        try await cluster.beginMoving(slot, from: source, to: target)
        #expect(try await cluster.moveKeys(20, of: slot, from: source, to: target) == 20)
        for key in keys { #expect(try await connection.send(RedisCommand("GET", .string(key))).asString() == key) }
        let values = await connection.pipeline(keys.map { RedisCommand("GET", .string($0)) })
        #expect(try values.map { try $0.get().asString() } == keys)
        // The new server has to learn the script behind an ASKING.
        let script = RedisScript("return redis.call('INCR', KEYS[1])")
        #expect(try await connection.run(script, keys: ["{moving}new"]).asInteger() == 1)
        #expect(try await connection.run(script, keys: ["{moving}new"]).asInteger() == 2)
        // A call with keys of which some are away waits until the move has ended.
        async let both = connection.send(RedisCommand("EXISTS", .string(keys[0]), "{moving}never"))
        while try await cluster.moveKeys(100, of: slot, from: source, to: target) > 0 {}
        try await cluster.endMoving(slot, to: target)
        #expect(try await both.asInteger() == 1)
        for key in keys { #expect(try await connection.send(RedisCommand("GET", .string(key))).asString() == key) }
        #expect(connection.primary(of: "{moving}")?.address == .tcp(host: "127.0.0.1", port: Int(target.port ?? 0), tls: false))
        await connection.close()
    }

    @Test func `a killed primary's replica is found, and the other slots answer meanwhile`() async throws {
        let cluster = try await RedisCluster.start()
        let connection = try await Self.connect(cluster)
        let keys = (0..<30).map { "failover:\($0)" }
        for key in keys { try await connection.send(RedisCommand("SET", .string(key), .string(key))) }
        let lost = cluster.nodes[0]
        var (mine, others): ([String], [String]) = ([], [])
        for key in keys {
            if try await cluster.owner(of: cluster.slot(of: key)) === lost { mine.append(key) } else { others.append(key) }
        }
        #expect(!mine.isEmpty && !others.isEmpty)
        // All writes are at the replica before its primary is killed. WAIT is about the writes of its own connection.
        for key in mine { try await connection.send(RedisCommand("WAIT", "1", "10000"), at: .string(key)) }
        try await lost.kill9()
        for key in others { #expect(try await connection.send(RedisCommand("GET", .string(key))).asString() == key) }
        for key in mine {
            let value = try await bounded("the replica takes over") { () async throws -> String in
                while true {
                    do { return try await connection.send(RedisCommand("GET", .string(key))).asString() } catch let error as RedisError {
                        guard error.isTransient else { throw error }
                    }
                }
            }
            #expect(value == key)
        }
        await connection.close()
    }

    @Test func `a slot without a server is an outage of that slot alone`() async throws {
        let cluster = try await RedisCluster.start(replicas: 0)
        let connection = try await Self.connect(cluster) { $0.commandTimeout = .milliseconds(500) }
        let (here, there) = try await (key(of: cluster.nodes[0], in: cluster), key(of: cluster.nodes[1], in: cluster))
        try await connection.send(RedisCommand("SET", .string(here), "1"))
        try await connection.send(RedisCommand("SET", .string(there), "1"))
        try await cluster.nodes[0].kill9()
        let error = await failure { try await connection.send(RedisCommand("GET", .string(here))) }
        #expect(error?.isTransient == true)
        #expect(try await connection.send(RedisCommand("GET", .string(there))).asString() == "1")
        #expect(!connection.isAway)
        await connection.close()
    }

    private func key(of node: RedisServer, in cluster: RedisCluster, without away: [RedisServer] = []) async throws -> String {
        for number in 0..<1000 {
            let slot = Int(HashSlot(of: "k\(number)".utf8).number)
            if try await cluster.owner(of: slot, without: away) === node { return "k\(number)" }
        }
        throw KitError("no key is at the node")
    }

    @Test func `a seed that is away is passed over`() async throws {
        let cluster = try await Self.shared.value
        var configuration = try RedisConfiguration(url: "redis://127.0.0.1:1,127.0.0.1:\(cluster.nodes[1].port ?? 0)")
        configuration.longestBackoff = .milliseconds(20)
        let connection = try await RedisConnection.connect(configuration)
        #expect(connection.isCluster)
        await connection.close()
        let server = try await RedisServer.start(.init { $0.listensOnTCP = true })
        let error = await failure {
            try await RedisConnection.connect(try RedisConfiguration(url: "redis://127.0.0.1:\(server.port ?? 0),127.0.0.1:1"))
        }
        #expect(error?.kind == .invalidConfiguration && error?.description.contains("not in a cluster") == true)
    }

    @Test func `a seed that hangs holds up neither the start nor the first command`() async throws {
        let cluster = try await RedisCluster.start(replicas: 0)
        let away = cluster.nodes[0]
        away.pause()
        defer { away.resume() }
        // The first address never answers, so only another one can.
        let connection = try await bounded("another seed answers") {
            try await Self.connect(cluster) { $0.connectTimeout = .seconds(600) }
        }
        #expect(connection.cluster?.primaries.count == 3)
        let there = try await key(of: cluster.nodes[1], in: cluster, without: [away])
        try await connection.send(RedisCommand("SET", .string(there), "1"))
        await connection.close()
    }

    @Test func `the error names all seeds where none answers, and of many the first`() async throws {
        let three = await failure {
            try await RedisConnection.connect(RedisConfiguration(url: "redis://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"))
        }
        #expect(three?.kind == .unreachable)
        #expect(
            three?.description.hasPrefix("Redis at redis://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3 cannot be reached (") == true,
            "\(three as Any)")
        let hosts = (1...9).map { "127.0.0.1:\($0)" }.joined(separator: ",")
        let many = await failure { try await RedisConnection.connect(RedisConfiguration(url: "redis://\(hosts)")) }
        #expect(many?.server == "redis://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4 and 5 more", "\(many as Any)")
    }

    @Test func `a hung primary's successor is used while commands to the hung one still wait`() async throws {
        let cluster = try await RedisCluster.start()
        // No command would be given up within this test's time.
        let connection = try await Self.connect(cluster) { $0.commandTimeout = .seconds(600) }
        let hung = cluster.nodes[0]
        let key = try await key(of: hung, in: cluster)
        try await connection.send(RedisCommand("SET", .string(key), "1"))
        try await connection.send(RedisCommand("WAIT", "1", "10000"), at: .string(key))
        hung.pause()
        defer { hung.resume() }
        // This command was sent, so it may have been executed: its caller has to know.
        let error = try await bounded("a command to the hung primary ends") {
            await failure { try await connection.send(RedisCommand("INCR", .string(key))) }
        }
        #expect(error?.kind == .connectionLost && error?.mayHaveExecuted == true && error?.isTransient == true, "\(error as Any)")
        #expect(error?.server == "redis://127.0.0.1:\(hung.port ?? 0)")
        let value = try await bounded("the successor answers") { try await connection.send(RedisCommand("GET", .string(key))).asString() }
        #expect(value == "1")
        await connection.close()
    }

    @Test func `the server that hangs is named, and not another one`() async throws {
        let cluster = try await RedisCluster.start(replicas: 0)
        let connection = try await Self.connect(cluster)
        let hung = cluster.nodes[2]
        let key = try await key(of: hung, in: cluster)
        try await connection.send(RedisCommand("SET", .string(key), "1"))
        hung.pause()
        defer { hung.resume() }
        async let waiting = failure { try await connection.send(RedisCommand("GET", .string(key)), timeout: .seconds(20)) }
        try await eventually("the server counts as silent") {
            connection.silence.server == "redis://127.0.0.1:\(hung.port ?? 0)"
        }
        #expect(connection.primary(of: .string(key))?.failure?.kind == .commandTimeout)
        hung.resume()
        #expect(await waiting == nil)
        try await eventually("the server counts as silent no longer") { connection.primary(of: .string(key))?.failure == nil }
        await connection.close()
    }

    @Test func `channels are heard at their servers, also after their slots have moved`() async throws {
        let cluster = try await RedisCluster.start(replicas: 0)
        let connection = try await Self.connect(cluster)
        let subscriber = try await RedisSubscriber.connect(connection.configuration)
        let channels = (0..<8).map { "{channel:\($0)}x" }
        let subscription = try await subscriber.subscribe(to: Set(channels))
        for channel in channels {
            #expect(try await connection.send(RedisCommand("SPUBLISH", .string(channel), .string(channel))).asInteger() == 1)
        }
        var events = subscription.makeAsyncIterator()
        var heard: Set<String> = []
        while heard.count < channels.count, case .message(let channel, let payload)? = await events.next() {
            #expect(payload == Array(channel.utf8))
            heard.insert(channel)
        }
        #expect(heard == Set(channels))

        let slot = try await cluster.slot(of: channels[0])
        let source = try await cluster.owner(of: slot)
        let target = try #require(cluster.nodes.first { $0 !== source })
        try await cluster.move(slot, from: source, to: target)
        #expect(await events.next() == .interrupted)
        #expect(try await connection.send(RedisCommand("SPUBLISH", .string(channels[0]), "again")).asInteger() == 1)
        #expect(await events.next() == .message(channel: channels[0], payload: Array("again".utf8)))
        await subscriber.close()
        #expect(await events.next() == nil)
        await connection.close()
    }
}
