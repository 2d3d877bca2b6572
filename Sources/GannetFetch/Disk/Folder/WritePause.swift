internal import GannetBase

/// Pauses writing when the system refuses it, so that a full disk costs a fetch nothing.
///
/// The pause begins after three failures in a row, and lasts a second. It doubles each time another attempt fails.
struct WritePause: Sendable {
    typealias Instant = ContinuousClock.Instant

    private enum State {
        case open(failures: Int)
        case paused(until: Instant, trials: Int)
        /// One attempt is under way. If it does not end, another may follow at this time.
        case trial(until: Instant, trials: Int)
    }

    private static let failuresBefore = 3

    private let backoff: Backoff
    private var state = State.open(failures: 0)

    init(longest: Duration) { backoff = Backoff(first: .seconds(1), longest: longest) }

    /// Whether it is worth while to prepare an attempt.
    func isOver(at now: Instant) -> Bool {
        switch state {
        case .open: true
        case .paused(let until, _), .trial(let until, _): now >= until
        }
    }

    /// Whether an attempt may begin now. The attempt has to write: the success of other calls proves nothing.
    mutating func begin(at now: Instant) -> Bool {
        guard isOver(at: now) else { return false }
        switch state {
        case .open: break
        case .paused(_, let trials), .trial(_, let trials): state = .trial(until: now + backoff.pause(after: trials), trials: trials)
        }
        return true
    }

    mutating func succeeded() { state = .open(failures: 0) }

    mutating func failed(at now: Instant) {
        switch state {
        case .open(let failures):
            let failures = failures + 1
            state = failures < Self.failuresBefore ? .open(failures: failures) : .paused(until: now + backoff.pause(after: 0), trials: 0)
        // Begun before the pause.
        case .paused: break
        case .trial(_, let trials): state = .paused(until: now + backoff.pause(after: trials + 1), trials: trials + 1)
        }
    }
}
