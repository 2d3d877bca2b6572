internal import ClusterState
internal import GannetBasics

/// The leases this worker holds, and how to end the work on each.
///
/// Ending comes in two steps: first the fetches, whose jobs are then handed back, and should Redis not take them, what is left of that.
final class HeldLeases: Sendable {
    private struct Held {
        let cancelFetch: @Sendable () -> Void
        var abandonConclusion: (@Sendable () -> Void)?
        var isLost = false
    }

    private struct State {
        var held: [FlightToken: Held] = [:]
        // A job may be added, or come to its conclusion, just after the word for all was given.
        var areAllCancelled = false
        var areAllAbandoned = false
        var claimsAgain = true
    }

    private let state = Mutex(State())

    var tokens: [FlightToken] { state.withLock { Array($0.held.keys) } }

    var count: Int { state.withLock { $0.held.count } }

    /// Whether the worker takes another job when one of these has ended.
    var claimsAgain: Bool { state.withLock { $0.claimsAgain } }

    /// Notes that the worker takes no more.
    func claimNoMore() { state.withLock { $0.claimsAgain = false } }

    /// Notes a job whose fetch has begun.
    func add(_ token: FlightToken, cancel: @escaping @Sendable () -> Void) {
        let isTooLate = state.withLock { state in
            state.held[token] = Held(cancelFetch: cancel)
            return state.areAllCancelled
        }
        if isTooLate { cancel() }
    }

    /// Notes that a fetch has ended and its outcome is on the way to Redis.
    func conclude(_ token: FlightToken, abandon: @escaping @Sendable () -> Void) {
        let isTooLate = state.withLock { state in
            state.held[token]?.abandonConclusion = abandon
            return state.areAllAbandoned
        }
        if isTooLate { abandon() }
    }

    func remove(_ token: FlightToken) {
        _ = state.withLock { $0.held.removeValue(forKey: token) }
    }

    /// Ends the work on leases that are another's by now.
    func lose(_ tokens: Set<FlightToken>) {
        let cancels = state.withLock { state in
            tokens.compactMap { token in
                state.held[token]?.isLost = true
                return state.held[token]?.cancelFetch
            }
        }
        for cancel in cancels { cancel() }
    }

    func isLost(_ token: FlightToken) -> Bool {
        state.withLock { $0.held[token]?.isLost ?? false }
    }

    /// Ends the fetches of all, also of those yet to be added.
    func cancelAll() {
        let cancels = state.withLock { state in
            state.areAllCancelled = true
            return state.held.values.map(\.cancelFetch)
        }
        for cancel in cancels { cancel() }
    }

    /// Waits for Redis no more: what is not settled comes back when its lease ends.
    func abandonAll() {
        cancelAll()
        let abandons = state.withLock { state in
            state.areAllAbandoned = true
            return state.held.values.compactMap(\.abandonConclusion)
        }
        for abandon in abandons { abandon() }
    }
}
