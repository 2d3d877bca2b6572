internal import GannetBase

/// Subscriptions in a cluster: each channel at the primary of its slot, as a sharded channel. When the slot moves, the subscription follows
/// it, and its reader is told that messages may have been missed.
final class ClusterSubscriber: Sendable {
    private struct State {
        var nodes: [RedisAddress: NodeSubscriber] = [:]
        var isClosed = false
    }

    /// Only its map is used.
    private let cluster: ClusterConnection
    private let state = Mutex(State())
    private let listener: Mutex<UInt64?> = Mutex(nil)

    /// How long `subscribe` waits for the channels of a server that is away.
    private static let patience = Duration.seconds(1)
    private static let backoff = Backoff(first: .milliseconds(20), longest: .seconds(1))

    init(_ cluster: ClusterConnection) {
        self.cluster = cluster
        let number = cluster.notice { [weak self] in self?.leaveOthers() }
        listener.withLock { $0 = number }
    }

    deinit { for node in state.withLock({ $0.nodes.values }) { node.beginClosing() } }

    func subscribe(to channels: Set<String>) async throws(RedisError) -> RedisSubscription {
        let (events, continuation) = AsyncStream.makeStream(
            of: RedisSubscription.Event.self, bufferingPolicy: .bufferingOldest(RedisSubscription.eventLimit))
        let relay = Relay(EventOutlet(continuation), waitingFor: channels)
        let following = Task {
            await withTaskGroup(of: Void.self) { group in
                for channel in channels { group.addTask { await self.follow(channel, relay) } }
                group.addTask {
                    try? await Task.sleep(for: Self.patience)
                    relay.stopWaiting()
                }
            }
            relay.finish(RedisError(.closed).at(self.cluster.configuration.address))
        }
        continuation.onTermination = { _ in following.cancel() }
        let outcome = await withTaskCancellationHandler {
            await relay.confirmed.value
        } onCancel: {
            relay.finish(RedisError(.cancelled).at(cluster.configuration.address))
        }
        try outcome.get()
        return RedisSubscription(events: events)
    }

    func close() async {
        if let number = listener.withLock({ $0 }) { cluster.ignore(number) }
        let nodes = state.withLock { state in
            state.isClosed = true
            defer { state.nodes = [:] }
            return Array(state.nodes.values)
        }
        for node in nodes { await node.close() }
        await cluster.close()
    }

    /// Hears one channel until the subscription ends.
    private func follow(_ channel: String, _ relay: Relay) async {
        let slot = HashSlot(of: channel.utf8)
        var failures = 0
        while !Task.isCancelled {
            do throws(RedisError) {
                guard let node = try node(of: slot) else { return }
                let subscription = try await node.subscribe(to: [channel])
                relay.confirm(channel)
                failures = 0
                for await event in subscription { relay.tell(event) }
            } catch {
                guard error.isTransient || error.kind == .closed else { return relay.finish(error) }
                relay.fail(error)
            }
            cluster.doubt()
            try? await Task.sleep(for: Self.backoff.pause(after: failures))
            failures += 1
        }
    }

    /// - Returns: `nil` once this subscriber is closed.
    private func node(of slot: HashSlot) throws(RedisError) -> NodeSubscriber? {
        guard let owner = cluster.standing(of: slot).primary else {
            throw RedisError(.clusterDown, "no server has slot \(slot.number)").at(cluster.configuration.address)
        }
        return try state.withLock { state throws(RedisError) in
            if state.isClosed { return nil }
            if let node = state.nodes[owner] { return node }
            let node = try NodeSubscriber.start(
                cluster.configuration(of: owner), cluster.hasShardedChannels ? .sharded : .plain)
            state.nodes[owner] = node
            return node
        }
    }

    /// Leaves servers that have no slot any more. Their channels look for their new servers.
    private func leaveOthers() {
        let primaries = Set(cluster.primaries)
        let left = state.withLock { state in
            state.nodes.keys.filter { !primaries.contains($0) }.compactMap { state.nodes.removeValue(forKey: $0) }
        }
        for node in left { node.beginClosing() }
    }
}

/// The events of all channels of a subscription, on their way to its reader.
private final class Relay: Sendable {
    private struct State {
        var outlet: EventOutlet
        var unconfirmed: Set<String>
        var heard: Set<String> = []
        var error: RedisError?
    }

    let confirmed = OneShot<Result<Void, RedisError>>()
    private let state: Mutex<State>

    init(_ outlet: EventOutlet, waitingFor channels: Set<String>) { state = Mutex(State(outlet: outlet, unconfirmed: channels)) }

    func tell(_ event: RedisSubscription.Event) { state.withLock { $0.outlet.tell(event) } }

    /// The channel is heard. Where that is not for the first time, messages may have been missed before.
    func confirm(_ channel: String) {
        let isComplete = state.withLock { state in
            state.unconfirmed.remove(channel)
            if !state.heard.insert(channel).inserted { state.outlet.tell(.interrupted) }
            return state.unconfirmed.isEmpty
        }
        if isComplete { confirmed.fire(.success(())) }
    }

    func fail(_ error: RedisError) { state.withLock { $0.error = error } }

    /// The channels that are heard are enough, if there is one.
    func stopWaiting() {
        let (isHeard, error) = state.withLock { state in
            // Messages that are published until the others are heard are missed.
            defer { state.heard.formUnion(state.unconfirmed) }
            return (!state.heard.isEmpty, state.error)
        }
        confirmed.fire(isHeard ? .success(()) : .failure(error ?? RedisError(.commandTimeout, "it confirms no channel")))
    }

    func finish(_ error: RedisError) {
        confirmed.fire(.failure(error))
        state.withLock { $0.outlet.finish() }
    }
}
