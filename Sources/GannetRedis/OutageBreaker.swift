internal import GannetBase
internal import GannetQueue
internal import GannetRedisClient

/// Keeps calls from waiting for a Redis that is away. After a failure no call is made for a while, and for longer after each further failure.
final class OutageBreaker: Sendable {
    private struct State {
        var failures = 0
        var opensAt: ContinuousClock.Instant?
    }

    static let shortestPause = Duration.seconds(1)
    private static let backoff = Backoff(first: shortestPause, longest: .seconds(30))
    private let state = Mutex(State())

    /// Whether to make a call. During an outage one caller at a time tries.
    func mayTry(at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            guard let opensAt = state.opensAt else { return true }
            guard opensAt <= now else { return false }
            // Callers that come while this one tries do not wait with it.
            state.opensAt = now + Self.shortestPause
            return true
        }
    }

    func succeeded() {
        state.withLock { state in
            state.failures = 0
            state.opensAt = nil
        }
    }

    /// A call failed. A Redis that is full is not away: it answers, and has what it had.
    func note(_ error: any Error) {
        if let error = error as? StateError, error.isTransient, error.redis?.kind != .outOfMemory { failed() }
    }

    func failed(at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.opensAt = now + Self.backoff.pause(after: state.failures)
            state.failures += 1
        }
    }
}
