internal import ClusterState
internal import GannetBasics

/// Renews all leases of this process in one call, three times within a lease.
final class Renewals: Sendable {
    private struct Held {
        var whenLost: (@Sendable () -> Void)?
        var isLost = false
        /// The lease's end as far as this process knows.
        var ends: ContinuousClock.Instant
    }

    private struct State {
        var held: [LockToken: Held] = [:]
        var isRunning = false
    }

    private let cluster: ClusterState
    private let lease: Duration
    private let state = Mutex(State())

    init(_ cluster: ClusterState, lease: Duration) {
        self.cluster = cluster
        self.lease = lease
    }

    /// - Parameter asked: When the lease was requested. It may have begun then.
    func add(_ token: LockToken, asked: ContinuousClock.Instant) {
        let starts = state.withLock { state in
            state.held[token] = Held(ends: asked + lease)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // The task ends with the last lease.
        if starts { Task { await run() } }
    }

    func whenLost(_ token: LockToken, _ action: @escaping @Sendable () -> Void) {
        let isLost = state.withLock { state in
            guard let held = state.held[token], !held.isLost else { return true }
            state.held[token]?.whenLost = action
            return false
        }
        if isLost { action() }
    }

    func remove(_ token: LockToken) { state.withLock { _ = $0.held.removeValue(forKey: token) } }

    private func run() async {
        while true {
            try? await Task.sleep(for: lease / 3)
            let tokens = state.withLock { state in
                if state.held.isEmpty { state.isRunning = false }
                return Array(state.held.keys)
            }
            if tokens.isEmpty { return }
            await renew(tokens)
        }
    }

    private func renew(_ tokens: [LockToken]) async {
        let asked = ContinuousClock.now
        do {
            let lost = try await cluster.renew(tokens, lease: lease)
            lose(
                state.withLock { state in
                    for token in tokens where !lost.contains(token) { state.held[token]?.ends = asked + lease }
                    return Array(lost)
                })
        } catch {
            // Redis may have renewed them. Leases that are over by our clock count as lost.
            lose(state.withLock { state in state.held.filter { $0.value.ends <= .now }.map(\.key) })
        }
    }

    private func lose(_ tokens: [LockToken]) {
        let actions = state.withLock { state in
            tokens.compactMap { token -> (@Sendable () -> Void)? in
                guard state.held[token]?.isLost == false else { return nil }
                state.held[token]?.isLost = true
                return state.held[token]?.whenLost
            }
        }
        for action in actions { action() }
    }
}
