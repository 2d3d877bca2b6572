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

    /// - Parameter foundAt: When somebody began to look for it in what processes share, where it was found there: that is never cleared.
    func concern(_ key: CacheKey, askedAt: Moment, foundAt: Moment? = nil) -> Bool {
        concernAlone(key, askedAt: askedAt) || state.withLock { $0.all }.map { foundAt ?? askedAt <= $0 } ?? false
    }

    /// Whether it was removed one by one, and so in all tiers.
    func concernAlone(_ key: CacheKey, askedAt: Moment) -> Bool { state.withLock { $0.keys[key] }.map { askedAt <= $0 } ?? false }
}
