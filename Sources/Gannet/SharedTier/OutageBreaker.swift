internal import GannetBasics

/// Keeps calls from waiting for a Redis that is known to be away: after a failure none is made for a while, and a longer one after each further
/// failure.
final class OutageBreaker: Sendable {
    private struct State {
        var failures = 0
        var opensAt: ContinuousClock.Instant?
    }

    static let shortestPause = Duration.seconds(1)
    private static let backoff = Backoff(first: shortestPause, longest: .seconds(30))
    private let state = Mutex(State())

    /// Whether a call is worth making. While there is an outage it is for one caller at a time.
    func mayTry(at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            guard let opensAt = state.opensAt else { return true }
            guard opensAt <= now else { return false }
            // Whoever comes while this one tries is not to wait with it.
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

    func failed(at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.opensAt = now + Self.backoff.pause(after: state.failures)
            state.failures += 1
        }
    }
}
