internal import GannetBase

/// The connections to a Redis Cluster: one to each primary that was needed so far, and the map that says which of them has a slot.
///
/// ```
/// command ── slot ──▶ ClusterMap ──▶ NodeConnection ──▶ primary
///    ▲                    ▲                │
///    └── ClusterAttempt ◀─┴── MOVED, ASK, TRYAGAIN, CLUSTERDOWN, lost
/// ```
///
/// The map is asked for again when a node sends a command on, when a connection is lost, and while a node leaves requests without a reply. A
/// node that has no slot any more is left at once: a hung primary would hold its commands until their timeouts, long after its replica has
/// taken over. Commands that never reached it look for their owner again, and the others fail as on a lost connection.
final class ClusterConnection: Sendable {
    typealias Instant = ContinuousClock.Instant

    struct State {
        var map: ClusterMap
        var nodes: [RedisAddress: NodeConnection] = [:]
        /// Nodes that leave requests without a reply.
        var silent: Set<RedisAddress> = []
        /// The last error that a command waits for the end of, such as that of a slot that moves.
        var hindrance: (error: RedisError, at: Instant)?
        var isClosed = false
        var listeners: [UInt64: @Sendable () -> Void] = [:]
        var lastListener: UInt64 = 0
        var keeper: Task<Void, Never>?
    }

    let configuration: RedisConfiguration
    let hasShardedChannels: Bool
    let state: Mutex<State>
    let health = ConnectionHealth()
    /// Wakes the task that asks for the map.
    let doubts: AsyncStream<Void>.Continuation

    /// The pause after a question for the map. While a node is away, each attempt to restore its connection asks again.
    private static let refreshPause = Duration.milliseconds(100)

    /// - Parameter seed: A node that answers, which is asked for the map. It is closed where it turns out not to be a primary at its address.
    static func open(_ configuration: RedisConfiguration, seed: NodeConnection) async throws(RedisError) -> ClusterConnection {
        let map = try await question(seed)
        let hasShardedChannels = seed.server.map { $0.version >= RedisVersion(major: 7, minor: 0) } ?? false
        seed.beginClosing()
        let (wishes, doubts) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let cluster = ClusterConnection(configuration, map, hasShardedChannels, doubts)
        let keeper = Task { [weak cluster] in
            for await _ in wishes {
                await cluster?.refresh()
                try? await Task.sleep(for: refreshPause)
            }
        }
        cluster.state.withLock { $0.keeper = keeper }
        return cluster
    }

    private init(
        _ configuration: RedisConfiguration, _ map: ClusterMap, _ hasShardedChannels: Bool, _ doubts: AsyncStream<Void>.Continuation
    ) {
        self.configuration = configuration
        self.hasShardedChannels = hasShardedChannels
        self.doubts = doubts
        state = Mutex(State(map: map))
    }

    deinit {
        doubts.finish()
        for node in state.withLock({ $0.nodes.values }) { node.beginClosing() }
    }

    var failure: RedisError? { health.failure }

    /// Why commands wait: the error of a node, or a node that does not answer.
    var silence: RedisError {
        if let failure { return failure }
        let (failures, silent) = state.withLock { state in (state.nodes.values.compactMap(\.failure), state.silent.first) }
        if let first = failures.first { return first }
        if silent == nil, let hindrance { return hindrance }
        return silent.map(silence(of:)) ?? RedisError(.commandTimeout).at(configuration.address)
    }

    /// The error of a node that does not answer.
    func silence(of node: RedisAddress) -> RedisError {
        var error = RedisError(.commandTimeout).at(node)
        error.isOfGivenAddress = !isNamed(node)
        return error
    }

    /// Whether the user has named the node.
    func isNamed(_ node: RedisAddress) -> Bool { node == configuration.address || configuration.seeds.contains(node) }

    /// The error for whose end commands wait. A command that waits is sent again twice a second at least.
    var hindrance: RedisError? { state.withLock { $0.hindrance }.flatMap { $0.at > .now - .seconds(1) ? $0.error : nil } }

    var isAway: Bool { health.isAway }
    func outages() -> AsyncStream<RedisError?> { health.outages() }

    func close() async {
        doubts.finish()
        let (nodes, keeper) = state.withLock { state in
            state.isClosed = true
            defer { (state.nodes, state.keeper) = ([:], nil) }
            return (Array(state.nodes.values), state.keeper)
        }
        keeper?.cancel()
        for node in nodes { node.beginClosing() }
        for node in nodes { await node.close() }
        await keeper?.value
    }
}

// MARK: - Commands

extension ClusterConnection {
    /// - Parameter slot: The slot of the command's key, or of the key that it is asked for.
    func send(
        _ command: RedisCommand, to slot: HashSlot, deadline: Instant, isImpatient: Bool = false
    ) async throws(RedisError) -> RedisReply {
        guard isImpatient else { return try await go(command, slot, deadline, ClusterAttempt(deadline: deadline), .toOwner) }
        return try await withoutWaiting(for: [slot]) {
            do throws(RedisError) {
                return [.success(try await self.go(command, slot, deadline, ClusterAttempt(deadline: deadline), .toOwner))]
            } catch {
                return [.failure(error)]
            }
        }[0].get()
    }

    /// Sends the commands of each node together. The commands of one slot keep their order, unless the slot moves meanwhile.
    /// - Parameter slot: The slot for commands without a key in front of all that have one.
    func pipeline(
        _ commands: [RedisCommand], to slot: HashSlot?, deadline: Instant, isImpatient: Bool = false
    ) async -> [Result<RedisReply, RedisError>] {
        var last = slot ?? commands.lazy.compactMap(\.slot).first ?? HashSlot(number: 0)
        let slots = commands.map { command in
            last = command.slot ?? last
            return last
        }
        let map = state.withLock { $0.map }
        var groups: [RedisAddress?: [Int]] = [:]
        for (index, slot) in slots.enumerated() { groups[map.owner(of: slot), default: []].append(index) }
        if groups.count == 1, let group = groups.first {
            return await pipeline(commands, slots, to: group.key, deadline, isImpatient)
        }
        return await withTaskGroup(of: ([Int], [Result<RedisReply, RedisError>]).self) { tasks in
            for (owner, indices) in groups {
                tasks.addTask {
                    (
                        indices,
                        await self.pipeline(indices.map { commands[$0] }, indices.map { slots[$0] }, to: owner, deadline, isImpatient)
                    )
                }
            }
            var results = [Result<RedisReply, RedisError>](repeating: .failure(RedisError(.cancelled)), count: commands.count)
            for await (indices, some) in tasks {
                for (index, result) in zip(indices, some) { results[index] = result }
            }
            return results
        }
    }

    /// Sends commands to one node.
    private func pipeline(
        _ commands: [RedisCommand], _ slots: [HashSlot], to owner: RedisAddress?, _ deadline: Instant, _ isImpatient: Bool
    ) async -> [Result<RedisReply, RedisError>] {
        guard isImpatient else { return await deliver(commands, slots, to: owner, deadline) }
        return await withoutWaiting(for: slots) { await self.deliver(commands, slots, to: owner, deadline) }
    }

    /// Sends commands to one node. Each command that it refuses goes its own way from there.
    private func deliver(
        _ commands: [RedisCommand], _ slots: [HashSlot], to owner: RedisAddress?, _ deadline: Instant
    ) async -> [Result<RedisReply, RedisError>] {
        var results: [Result<RedisReply, RedisError>]
        do throws(RedisError) {
            if let owner, let node = try node(at: owner) {
                results = await node.pipeline(commands, timeout: deadline - .now)
            } else {
                results = slots.map { .failure(withoutOwner($0)) }
            }
        } catch {
            results = commands.map { _ in .failure(error) }
        }
        var isElsewhere = false
        for (index, result) in results.enumerated() {
            var attempt = ClusterAttempt(deadline: deadline)
            var step = ClusterAttempt.Step.toOwner
            if case .failure(let error) = result {
                step = judge(error, of: slots[index], from: owner, &attempt)
                if case .fail(let error) = step {
                    results[index] = .failure(error)
                    continue
                }
                isElsewhere = true
            } else if commands[index].slot != nil || !isElsewhere {
                // A command without a key follows the one before it.
                isElsewhere = false
                continue
            }
            do throws(RedisError) {
                results[index] = .success(try await go(commands[index], slots[index], deadline, attempt, step))
            } catch {
                results[index] = .failure(error)
            }
        }
        return results
    }

    private func go(
        _ command: RedisCommand, _ slot: HashSlot, _ deadline: Instant, _ attempt: ClusterAttempt, _ first: ClusterAttempt.Step
    ) async throws(RedisError) -> RedisReply {
        var (attempt, step) = (attempt, first)
        while true {
            var asked: RedisAddress?
            do throws(RedisError) {
                switch step {
                case .fail(let error): throw error
                case .ask(let address):
                    asked = address
                    return try await ask(command, at: address, deadline)
                case .pause(let length):
                    do { try await Task.sleep(for: length) } catch { throw RedisError(.cancelled).at(configuration.address) }
                case .toOwner: break
                }
                asked = owner(of: slot)
                guard let asked, let node = try node(at: asked) else { throw withoutOwner(slot) }
                return try await node.send(command, timeout: deadline - .now)
            } catch {
                step = judge(error, of: slot, from: asked, &attempt)
                if case .fail(let error) = step { throw error }
            }
        }
    }

    /// The answer of a node that a slot moves to. It does not know the script perhaps, and `ASKING` holds for one command.
    private func ask(_ command: RedisCommand, at address: RedisAddress, _ deadline: Instant) async throws(RedisError) -> RedisReply {
        guard let node = try node(at: address) else { throw RedisError(.closed).at(address) }
        let results = await node.pipeline([RedisCommand("ASKING"), command.withSource ?? command], timeout: deadline - .now)
        // Without it, the node sends the command back to where it came from.
        if case .failure(let error) = results[0], error.kind == .notPermitted { throw error }
        return try results[1].get()
    }

    private func judge(
        _ answer: RedisError, of slot: HashSlot, from node: RedisAddress?, _ attempt: inout ClusterAttempt
    ) -> ClusterAttempt.Step {
        var error = answer
        if error.kind == .tryAgain { error.slot = slot }
        let redirection = Redirection(error, from: node ?? configuration.address)
        if error.kind == .moved, let redirection {
            state.withLock { $0.map.move(redirection.slot, to: redirection.address) }
        }
        let isClosed = state.withLock { $0.isClosed }
        let step = isClosed ? .fail(error) : attempt.step(after: Self.meaning(of: error), redirection, now: .now)
        if case .pause = step { state.withLock { $0.hindrance = (error, .now) } }
        switch (step, error.kind) {
        case (.fail, _), (_, .ask), (_, .tryAgain): break
        default: doubts.yield()
        }
        return step
    }

    /// Only this class closes the connection to a node before its own: the node has no slot any more. To the caller that is a lost connection.
    private static func meaning(of error: RedisError) -> RedisError {
        guard error.kind == .closed else { return error }
        return RedisError(
            .connectionLost, "its slots have another server now", server: error.server, mayHaveExecuted: error.mayHaveExecuted)
    }

    private func owner(of slot: HashSlot) -> RedisAddress? { state.withLock { $0.map.owner(of: slot) } }

    func withoutOwner(_ slot: HashSlot) -> RedisError {
        RedisError(.clusterDown, "no server has slot \(slot.number)").at(configuration.address)
    }
}
