internal import GannetBase

/// A real Redis Cluster of a test's own: `redis-server` processes on ports of 127.0.0.1 that the kernel chose. It ends with its last
/// reference.
package final class RedisCluster: Sendable {
    /// The primaries first, each with an equal part of the slots, and then the replicas in the same order.
    package let nodes: [RedisServer]
    package let primaries: Int

    /// Starts the servers, and returns when each of them says that the cluster is complete.
    /// - Parameters:
    ///   - replicas: How many each primary has.
    ///   - nodeTimeout: After this time without an answer a primary counts as lost, and its replica takes over.
    package static func start(
        primaries: Int = 3, replicas: Int = 1, nodeTimeout: Duration = .seconds(1),
        _ change: @Sendable (inout RedisServer.Options) -> Void = { _ in }
    ) async throws -> RedisCluster {
        var nodes: [RedisServer] = []
        let clock = try await MovableClock(in: try TemporaryFolder())
        for _ in 0..<primaries * (1 + replicas) {
            nodes.append(
                try await RedisServer.start(
                    .init {
                        $0.listensOnTCP = true
                        $0.cluster = nodeTimeout
                        $0.sharedClock = clock
                        change(&$0)
                    }))
        }
        let cluster = RedisCluster(nodes, primaries)
        try await cluster.join()
        return cluster
    }

    private init(_ nodes: [RedisServer], _ primaries: Int) {
        self.nodes = nodes
        self.primaries = primaries
    }

    package static let slots = 16_384

    /// The address of all nodes, for clients.
    package var url: String { "redis://" + nodes.map { "127.0.0.1:\($0.port ?? 0)" }.joined(separator: ",") }

    /// The name of a node within its cluster.
    package func id(of node: RedisServer) async throws -> String { try await node.command("CLUSTER", "MYID").text ?? "" }

    private func join() async throws {
        for (index, node) in nodes.prefix(primaries).enumerated() {
            let first = index * Self.slots / primaries
            let last = (index + 1) * Self.slots / primaries - 1
            try await node.ask("CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(last)")
            try await node.ask("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
        }
        for node in nodes.dropFirst() {
            try await nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", "\(node.port ?? 0)", "\(node.busPort ?? 0)")
        }
        for node in nodes {
            try await eventually("the nodes of the cluster know each other") {
                try await node.info("CLUSTER", "INFO")["cluster_known_nodes"] == "\(nodes.count)"
            }
        }
        // No node has a replica yet that could take its place.
        hasten(by: .milliseconds(2500))
        for (index, node) in nodes.enumerated().dropFirst(primaries) {
            let primary = try await id(of: nodes[index % primaries])
            // A node hears of another one before it knows that this is a primary.
            try await eventually("a node becomes a replica") { try await node.command("CLUSTER", "REPLICATE", primary).text == "OK" }
        }
        for node in nodes.dropFirst(primaries) {
            try await eventually("a replica follows its primary") {
                try await node.info("INFO", "replication")["master_link_status"] == "up"
            }
        }
        try await isComplete()
    }

    /// A primary does not serve in its first two seconds. The cluster's clock goes on by more than that.
    private func hasten(by time: Duration) {
        nodes[0].clock.advance(by: time)
    }

    /// Returns when a node that was started again serves. The cluster's clock may go on by some seconds, so another node's silence has to be
    /// allowed for longer.
    package func serves(_ node: RedisServer) async throws {
        try await eventually("the node serves again") {
            if try await node.info("CLUSTER", "INFO")["cluster_state"] == "ok" { return true }
            hasten(by: .milliseconds(50))
            return false
        }
    }

    /// Returns when each running node knows a primary for each slot, and all say the same.
    package func isComplete(without away: [RedisServer] = []) async throws {
        let running = nodes.filter { node in !away.contains { $0 === node } }
        try await eventually("the cluster is complete") {
            var maps: Set<[Int: String]> = []
            for node in running {
                let info = try await node.info("CLUSTER", "INFO")
                guard info["cluster_state"] == "ok", info["cluster_slots_ok"] == "\(Self.slots)" else { return false }
                maps.insert(try await owners(node))
            }
            return maps.count == 1
        }
    }

    /// The first slot of each range, and the node that has it.
    private func owners(_ node: RedisServer) async throws -> [Int: String] {
        guard case .list(let ranges) = try await node.command("CLUSTER", "SLOTS") else { return [:] }
        var owners: [Int: String] = [:]
        for case .list(let range) in ranges {
            guard range.count > 2, case .integer(let first) = range[0], case .list(let owner) = range[2], owner.count > 2 else { continue }
            owners[first] = owner[2].text
        }
        return owners
    }

    /// The running primary that has a slot now.
    package func owner(of slot: Int, without away: [RedisServer] = []) async throws -> RedisServer {
        for node in nodes where !away.contains(where: { $0 === node }) {
            let own = try await id(of: node)
            guard case .list(let ranges) = try await node.command("CLUSTER", "SLOTS") else { continue }
            for case .list(let range) in ranges {
                guard range.count > 2, case .integer(let first) = range[0], case .integer(let last) = range[1],
                    case .list(let owner) = range[2],
                    owner.count > 2, owner[2].text == own, (first...last).contains(slot)
                else { continue }
                return node
            }
        }
        throw KitError("no node of the cluster has slot \(slot)")
    }

    /// The slot of a key, as Redis computes it.
    package func slot(of key: String) async throws -> Int {
        guard case .integer(let slot) = try await nodes[0].command("CLUSTER", "KEYSLOT", key) else { throw KitError("Redis knows no slot") }
        return slot
    }

    /// Begins to move a slot: from now on each key is at one of the two nodes.
    package func beginMoving(_ slot: Int, from source: RedisServer, to target: RedisServer) async throws {
        try await target.ask("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", try await id(of: source))
        try await source.ask("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", try await id(of: target))
    }

    /// Moves up to `count` keys of a slot that is being moved; returns how many there were.
    @discardableResult
    package func moveKeys(_ count: Int, of slot: Int, from source: RedisServer, to target: RedisServer) async throws -> Int {
        // The keys are binary, so the server itself names them.
        let script = """
            local keys = redis.call('CLUSTER', 'GETKEYSINSLOT', ARGV[1], ARGV[2])
            if #keys == 0 then return 0 end
            local answer = redis.call('MIGRATE', '127.0.0.1', ARGV[3], '', 0, 10000, 'KEYS', unpack(keys))
            return #keys
            """
        let answer = try await source.command("EVAL", script, "0", "\(slot)", "\(count)", "\(target.port ?? 0)")
        guard case .integer(let moved) = answer else { throw KitError("keys could not be moved: \(answer)") }
        return moved
    }

    /// Ends the move of a slot.
    package func endMoving(_ slot: Int, to target: RedisServer) async throws {
        let owner = try await id(of: target)
        try await target.ask("CLUSTER", "SETSLOT", "\(slot)", "NODE", owner)
        for node in nodes where node !== target { _ = try? await node.command("CLUSTER", "SETSLOT", "\(slot)", "NODE", owner) }
    }

    /// Moves a slot with all its keys.
    package func move(_ slot: Int, from source: RedisServer, to target: RedisServer) async throws {
        try await beginMoving(slot, from: source, to: target)
        while try await moveKeys(100, of: slot, from: source, to: target) > 0 {}
        try await endMoving(slot, to: target)
    }
}

extension RedisServer {
    /// A command that has to succeed.
    @discardableResult
    package func ask(_ arguments: String...) async throws -> RedisAnswer {
        let answer = try await command(arguments)
        if case .error(let text) = answer { throw KitError("redis-server refused \(arguments.joined(separator: " ")): \(text)") }
        return answer
    }

    /// The lines `name:value` of an answer.
    package func info(_ arguments: String...) async throws -> [String: String] {
        let lines = (try await command(arguments).text ?? "").split(whereSeparator: \.isNewline)
        return lines.reduce(into: [:]) { values, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
        }
    }
}
