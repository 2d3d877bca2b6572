/// Whether to ask the system again that has refused to write: after three failures in a row not for a second, and for twice as long each
/// time one more attempt fails. A full disk costs a fetch nothing.
struct WritePause: Sendable {
    typealias Instant = ContinuousClock.Instant

    private enum State {
        case open(failures: Int)
        case paused(until: Instant, Duration)
        /// One attempt is under way; should nothing become of it, another may follow at the given time.
        case trial(until: Instant, Duration)
    }

    private static let failuresBefore = 3
    private static let shortest = Duration.seconds(1)

    private let longest: Duration
    private var state = State.open(failures: 0)

    init(longest: Duration) { self.longest = longest }

    /// Whether it is worth while to get ready for an attempt.
    func isOver(at now: Instant) -> Bool {
        switch state {
        case .open: true
        case .paused(let until, _), .trial(let until, _): now >= until
        }
    }

    /// Whether an attempt may be made now. One that is begun has to write: what else succeeds says nothing.
    mutating func begin(at now: Instant) -> Bool {
        guard isOver(at: now) else { return false }
        switch state {
        case .open: break
        case .paused(_, let length), .trial(_, let length): state = .trial(until: now + length, length)
        }
        return true
    }

    mutating func succeeded() { state = .open(failures: 0) }

    mutating func failed(at now: Instant) {
        switch state {
        case .open(let failures):
            let length = min(longest, Self.shortest)
            state = failures + 1 < Self.failuresBefore ? .open(failures: failures + 1) : .paused(until: now + length, length)
        // Begun before the pause.
        case .paused: break
        case .trial(_, let length):
            let next = min(longest, length * 2)
            state = .paused(until: now + next, next)
        }
    }
}
