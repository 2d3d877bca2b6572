/// How long what has happened waits for the part of the process that handles it: an average over the last fourth of a second.
///
/// It grows with the work of one turn, also where other programs have the processor. It is near zero while that part mostly waits.
package final class Lag: Sendable {
    private struct State {
        var average = Duration.zero
        var since: ContinuousClock.Instant
        /// Something has happened, and is not handled yet.
        var isBehind = false

        /// Something that happened in the time since the last change has waited until its end, or nothing has happened.
        mutating func goOn(to now: ContinuousClock.Instant) {
            let time = max(.zero, now - since)
            let wait = isBehind ? time : .zero
            average = wait + (average - wait) * exp(-(time / Lag.span))
            since = now
        }
    }

    private static let span = Duration.milliseconds(250)
    private let state: Mutex<State>

    package init(at now: ContinuousClock.Instant = .now) { state = Mutex(State(since: now)) }

    package func average(at now: ContinuousClock.Instant = .now) -> Duration {
        state.withLock { state in
            var state = state
            state.goOn(to: now)
            return state.average
        }
    }

    /// Something has happened.
    package func begin(at now: ContinuousClock.Instant = .now) { set(true, at: now) }

    /// Nothing that had happened is left.
    package func end(at now: ContinuousClock.Instant = .now) { set(false, at: now) }

    private func set(_ isBehind: Bool, at now: ContinuousClock.Instant) {
        state.withLock { state in
            state.goOn(to: now)
            state.isBehind = isBehind
        }
    }
}
