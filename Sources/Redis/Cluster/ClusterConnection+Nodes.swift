internal import GannetBase

/// The nodes of a cluster, and the map that says which of them has a slot.
extension ClusterConnection {
    private static let refreshPatience = Duration.seconds(2)
    /// A node that is away is tried this often at least, because a replica may have taken its slots.
    private static let longestBackoff = Duration.seconds(1)

    /// The primaries that have slots.
    var primaries: [RedisAddress] { state.withLock { $0.map.primaries } }

    /// The primary of a slot, and the error of its connection. A primary that does not answer counts as one with an error.
    func standing(of slot: HashSlot) -> (primary: RedisAddress?, failure: RedisError?) {
        state.withLock { state in
            guard let owner = state.map.owner(of: slot) else { return (nil, nil) }
            let silence = state.silent.contains(owner) ? silence(of: owner) : nil
            return (owner, state.nodes[owner]?.failure ?? silence)
        }
    }

    /// Calls `body` after each change of the map, until ``ignore(_:)``.
    func notice(_ body: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = body
            return state.lastListener
        }
    }

    func ignore(_ listener: UInt64) { state.withLock { $0.listeners[listener] = nil } }

    /// Asks for the map soon.
    func doubt() { doubts.yield() }

    func configuration(of address: RedisAddress) -> RedisConfiguration {
        var own = configuration
        (own.address, own.seeds, own.longestBackoff) = (address, [], min(configuration.longestBackoff, Self.longestBackoff))
        own.isGivenAddress = !isNamed(address)
        return own
    }

    /// The connection to a node. It is made when it is first needed; `nil` once the cluster's connection is closed.
    func node(at address: RedisAddress) throws(RedisError) -> NodeConnection? {
        try state.withLock { state throws(RedisError) in
            if state.isClosed { return nil }
            if let node = state.nodes[address] { return node }
            let changed: @Sendable () -> Void = { [weak self] in self?.nodeChanged() }
            let noteSilence: @Sendable (Bool) -> Void = { [weak self] in self?.note(address, isSilent: $0) }
            let node = try NodeConnection.start(configuration(of: address), changed: changed, noteSilence: noteSilence)
            state.nodes[address] = node
            return node
        }
    }

    /// A connection was lost, could not be restored, or stands again.
    private func nodeChanged() {
        let (failures, count) = state.withLock { state in
            (state.nodes.values.filter(\.isAway).compactMap(\.failure), state.nodes.count)
        }
        if let failure = failures.first, failures.count == count {
            health.failed(failure)
        } else if health.failure != nil {
            health.restored(nil)
        }
        if !failures.isEmpty || state.withLock({ state in state.nodes.values.contains { $0.failure != nil } }) { doubts.yield() }
    }

    /// Requests wait in vain for a reply of a node, or it has answered again. Its replica may have taken over.
    private func note(_ node: RedisAddress, isSilent: Bool) {
        state.withLock { state in
            if isSilent, state.nodes[node] != nil { state.silent.insert(node) } else { state.silent.remove(node) }
        }
        if isSilent { doubts.yield() }
    }

    func refresh() async {
        guard let map = await freshMap() else { return }
        let (left, listeners) = state.withLock { state -> ([NodeConnection], [@Sendable () -> Void]) in
            if state.isClosed { return ([], []) }
            let isSame = map == state.map
            state.map = map
            let gone = state.nodes.keys.filter { !map.primaries.contains($0) }
            let left = gone.compactMap { state.nodes.removeValue(forKey: $0) }
            state.silent.subtract(gone)
            return (left, isSame ? [] : Array(state.listeners.values))
        }
        for node in left { node.beginClosing() }
        for listener in listeners { listener() }
    }

    private enum Source: Sendable {
        case node(NodeConnection)
        case address(RedisAddress)
    }

    /// The map of the first server that gives one: of nodes that answer, then of the user's addresses, then of all other nodes.
    private func freshMap() async -> ClusterMap? {
        let (nodes, silent, primaries) = state.withLock { state in
            (state.nodes.filter { $1.failure == nil && !state.silent.contains($0) }, state.silent, state.map.primaries)
        }
        var addresses = [configuration.address] + configuration.seeds
        addresses += primaries.filter { !addresses.contains($0) }
        // A silent node would only get another connection to hold, from each process and in each round. Once it answers, it is silent no more.
        addresses.removeAll { nodes[$0] != nil || silent.contains($0) }
        let map = await SeedRace.first(of: nodes.values.map(Source.node) + addresses.map(Source.address)) { source throws(RedisError) in
            switch source {
            case .node(let node): return try await Self.question(node)
            case .address(let address):
                var seeding = self.configuration(of: address)
                seeding.connectTimeout = min(seeding.connectTimeout, Self.refreshPatience)
                let seed = try await NodeConnection.connect(seeding)
                defer { seed.beginClosing() }
                return try await Self.question(seed)
            }
        }
        return try? map.get()
    }

    static func question(_ node: NodeConnection) async throws(RedisError) -> ClusterMap {
        let address = node.configuration.address
        do throws(RedisError) {
            let reply = try await node.send(RedisCommand("CLUSTER", "SHARDS"), timeout: refreshPatience)
            return try ClusterMap(reply, from: address)
        } catch {
            // Servers before Redis 7 know only the older form, and a user may have the right to it alone.
            guard [.other, .notPermitted].contains(error.kind) else { throw error }
            let older: RedisReply
            do throws(RedisError) {
                older = try await node.send(RedisCommand("CLUSTER", "SLOTS"), timeout: refreshPatience)
            } catch let second {
                // A server that knows both forms needs one right, and that is the newer form's.
                throw error.kind == .notPermitted && second.kind == .notPermitted ? error : second
            }
            return try ClusterMap(older, from: address)
        }
    }
}
