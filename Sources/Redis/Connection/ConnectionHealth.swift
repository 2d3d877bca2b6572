internal import GannetBase

/// Why a connection is down. The connection's thread writes it, and any thread reads it.
final class ConnectionHealth: Sendable {
    private struct State {
        var failure: RedisError?
        var server: ServerFacts?
        /// An attempt to restore the connection has failed, and none has succeeded since.
        var isAway = false
        var listeners: [Int: AsyncStream<RedisError?>.Continuation] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())
    private let changed: @Sendable () -> Void

    /// - Parameter changed: Called on the connection's thread after each change.
    init(changed: @escaping @Sendable () -> Void = {}) { self.changed = changed }

    /// The loss of the connection, or the error of the last attempt to restore it; `nil` while it stands.
    var failure: RedisError? { state.withLock { $0.failure } }

    /// Whether an attempt to restore the connection has failed. Most lost connections are restored at once.
    var isAway: Bool { state.withLock { $0.isAway } }

    /// The facts in the server's last greeting.
    var server: ServerFacts? { state.withLock { $0.server } }

    func restored(_ server: ServerFacts?) {
        let listeners = state.withLock { state in
            state.failure = nil
            state.server = server
            defer { state.isAway = false }
            return state.isAway ? Array(state.listeners.values) : []
        }
        for listener in listeners { listener.yield(nil) }
        changed()
    }

    /// The connection was lost, or an attempt to restore it failed. Only the latter is news.
    func failed(_ error: RedisError) {
        let listeners = state.withLock { state in
            state.isAway = state.failure != nil
            state.failure = error
            return state.isAway ? Array(state.listeners.values) : []
        }
        for listener in listeners { listener.yield(error) }
        changed()
    }

    func outages() -> AsyncStream<RedisError?> {
        let (stream, listener) = AsyncStream.makeStream(of: RedisError?.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.lastID += 1
            state.listeners[state.lastID] = listener
            return state.lastID
        }
        listener.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[id] = nil } }
        return stream
    }
}
