/// Started servers and clusters that tests use one after the other, because a start takes longer than most tests.
///
/// A test may do to a server what clients do, and may pause it and resume it. A test that stops it, or makes it a replica, starts one
/// of its own. The pool empties what comes back: keys, scripts, statistics, connections and the clock are as at the start. A server whose
/// settings or users differ from then, a cluster whose slots have moved, and a server that does not answer end instead.
///
/// ```swift
/// try await RedisPool.shared.withServer { server in … }
/// try await RedisPool.shared.withServer(.clock) { server in server.clock.stop(); … }
/// try await RedisPool.shared.withCluster(primaries: 3) { cluster in … }
/// ```
///
/// `take` and `giveBack` are for fixtures that have their own end. A fixture whose test has failed gives nothing back.
package actor RedisPool {
    /// How a server was started.
    package enum Kind: Hashable, Sendable {
        /// It listens on its socket.
        case plain
        /// It listens on a TCP port too.
        case tcp
        /// Tests can move its clock. Each test finds the clock going, and as far as real time.
        case clock
    }

    /// The pool of all tests of the process.
    package static let shared = RedisPool()

    private var servers: [Kind: [RedisServer]] = [:]
    private var clusters: [Int: [RedisCluster]] = [:]

    /// The settings and users of each server when it was new.
    private var looks: [ObjectIdentifier: [UInt8]] = [:]

    package init() {}

    /// Runs `body` with an empty server, and gives the server back unless `body` throws.
    package nonisolated func withServer(
        _ kind: Kind = .plain, _ body: (RedisServer) async throws -> Void
    ) async throws {
        let server = try await take(kind)
        do {
            try await body(server)
            await giveBack(server, kind)
        } catch {
            await forget([server])
            throw error
        }
    }

    /// Runs `body` with an empty cluster of primaries without replicas, and gives the cluster back unless `body` throws.
    package nonisolated func withCluster(
        primaries: Int = 3, _ body: (RedisCluster) async throws -> Void
    ) async throws {
        let cluster = try await takeCluster(primaries: primaries)
        do {
            try await body(cluster)
            await giveBack(cluster)
        } catch {
            await forget(cluster.nodes)
            throw error
        }
    }

    /// An empty server that nobody else uses.
    package func take(_ kind: Kind = .plain) async throws -> RedisServer {
        if let server = servers[kind]?.popLast() { return server }
        var options = RedisServer.Options()
        switch kind {
        case .plain: break
        case .tcp: options.listensOnTCP = true
        case .clock: options.movableClock = true
        }
        let server = try await RedisServer.start(options)
        looks[ObjectIdentifier(server)] = try await server.look()
        return server
    }

    /// Empties a server for the next test.
    package func giveBack(_ server: RedisServer, _ kind: Kind = .plain) async {
        if kind == .clock { server.clock.reset() }
        if await isClean(server) { servers[kind, default: []].append(server) } else { forget([server]) }
    }

    /// An empty cluster that nobody else uses. Its primaries have no replicas, and an equal part of the slots each.
    package func takeCluster(primaries: Int = 3) async throws -> RedisCluster {
        if let cluster = clusters[primaries]?.popLast() { return cluster }
        // A machine at full load must not look like a failure of a primary.
        let cluster = try await RedisCluster.start(primaries: primaries, replicas: 0, nodeTimeout: .seconds(15))
        for node in cluster.nodes { looks[ObjectIdentifier(node)] = try await node.look() }
        return cluster
    }

    /// Empties a cluster for the next test.
    package func giveBack(_ cluster: RedisCluster) async {
        for node in cluster.nodes where await !isClean(node) {
            forget(cluster.nodes)
            return
        }
        clusters[cluster.primaries, default: []].append(cluster)
    }

    /// Empties a server. Answers whether it is as it was when it was new.
    private func isClean(_ server: RedisServer) async -> Bool {
        server.resume()
        guard let before = looks[ObjectIdentifier(server)], let after = try? await server.look(), after == before else { return false }
        return (try? await server.clean()) != nil
    }

    /// The server ends with its last reference. Another server may get the same address in memory then.
    private func forget(_ servers: [RedisServer]) {
        for server in servers { looks[ObjectIdentifier(server)] = nil }
    }
}

extension RedisServer {
    /// Its settings and its users. A node of a cluster says too which slots it has, and which of them move.
    fileprivate func look() async throws -> [UInt8] {
        let settings = try await transcript(["CONFIG", "GET", "*"], ["ACL", "LIST"])
        guard busPort != nil else { return settings }
        let nodes = try await ask("CLUSTER", "NODES").text ?? ""
        // The fields between a node's flags and its slots tell times, and whether it was heard.
        let slots = nodes.split(separator: "\n").map { line in
            let fields = line.split(separator: " ")
            return (fields.prefix(1) + fields.dropFirst(2).prefix(2) + fields.dropFirst(8)).joined(separator: " ")
        }
        return settings + slots.sorted().joined(separator: "\n").utf8
    }

    fileprivate func clean() async throws {
        // A client that a test has left behind would write into the next test's server.
        let answers = try await transcript(
            ["CLIENT", "UNPAUSE"], ["CLIENT", "KILL", "TYPE", "normal"], ["CLIENT", "KILL", "TYPE", "pubsub"], ["FLUSHALL"],
            ["FUNCTION", "FLUSH"], ["SCRIPT", "FLUSH"], ["SLOWLOG", "RESET"], ["LATENCY", "RESET"], ["CONFIG", "RESETSTAT"])
        let text = String(decoding: answers, as: UTF8.self)
        guard !text.hasPrefix("-"), !text.contains("\r\n-") else { throw KitError("redis-server could not be emptied: \(text)") }
    }
}
