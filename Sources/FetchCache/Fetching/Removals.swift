internal import Threads

/// What was removed while it was being fetched: what is on its way then is for those who wait for it, and is not kept.
final class Removals: Sendable {
    private struct State {
        var all: Moment?
        /// Forgotten when there are too many, and with it that anything has been removed one by one: the fetches of that time are over.
        var keys: [CacheKey: Moment] = [:]
    }

    private static let most = 10_000
    private let state = Mutex(State())

    func note(_ key: CacheKey, at now: Moment) {
        state.withLock { state in
            if state.keys.count >= Self.most { state.keys = [:] }
            state.keys[key] = now
        }
    }

    func noteAll(at now: Moment) {
        state.withLock { state in
            state.keys = [:]
            state.all = now
        }
    }

    func concern(_ key: CacheKey, askedAt: Moment) -> Bool {
        state.withLock { state in [state.keys[key], state.all].contains { $0.map { askedAt <= $0 } ?? false } }
    }
}
