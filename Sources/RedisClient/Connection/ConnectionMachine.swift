internal import GannetBasics

/// Decides what a connection does next: no socket, clock or randomness inside.
///
/// ```
/// start ─▶ lookingUp ─▶ opening ─▶ preparing ─▶ greeting ─▶ serving ─▶ draining
///             ▲                                               │           │
///             └───────────── pausing ◀────────────────────────┴───────────┘
/// ```
///
/// Any failure after the first success leads through `pausing` back to `lookingUp`: the name is resolved again each time, since
/// after a failover it may mean another machine. A failure before the first success ends the connection, and whoever asked for
/// it gets the reason.
struct ConnectionMachine {
    typealias Instant = ContinuousClock.Instant

    enum State: Equatable {
        case idle
        case lookingUp
        /// Connecting to one address; the `remaining` ones get their turn at `until` at the latest.
        case opening(remaining: [SocketAddress], until: Instant)
        case preparing
        case greeting
        case serving(since: Instant)
        case draining
        case pausing(until: Instant)
        case over
    }

    enum Action: Equatable {
        case lookUp
        case open(SocketAddress)
        /// The socket is connected: go through TLS, where it is asked for.
        case prepare
        case greet
        case serve
        /// Answers READONLY: frame nothing more, let what is framed be sent and answered, then say ``drained(now:)``.
        case drain
        /// Close the socket; what was in flight is lost for this reason.
        case drop(RedisError)
        /// Nothing further happens; everything that waits ends for this reason.
        case stop(RedisError)
    }

    private(set) var state = State.idle
    private var deadline: Instant?
    private var failures = 0
    private var hasServed = false
    private let attemptTimeout: Duration
    private let drainTimeout: Duration
    private let backoff: Backoff
    private var random: any RandomNumberGenerator

    /// A connection that held for this long was a good one: the next loss starts with the shortest pause again.
    static let stableAfter = Duration.seconds(5)

    init(_ configuration: RedisConfiguration, random: any RandomNumberGenerator) {
        attemptTimeout = configuration.connectTimeout
        drainTimeout = configuration.commandTimeout
        backoff = Backoff(first: configuration.shortestBackoff, longest: configuration.longestBackoff)
        self.random = random
    }

    var isOver: Bool { state == .over }

    var isServing: Bool {
        if case .serving = state { true } else { false }
    }

    /// When ``tick(now:)`` has something to do at the latest.
    var nextDeadline: Instant? {
        switch state {
        case .pausing(let until), .opening(_, let until): until
        default: deadline
        }
    }

    mutating func start(now: Instant) -> Action {
        state = .lookingUp
        deadline = now + attemptTimeout
        return .lookUp
    }

    mutating func found(_ endpoints: [SocketAddress], now: Instant) -> Action? {
        guard state == .lookingUp else { return nil }
        guard let first = endpoints.first else { return failed(RedisError(.unresolvable, "the name has no address"), now: now) }
        return open(first, then: Array(endpoints.dropFirst()), now: now)
    }

    /// The address being opened does not answer; the next one may.
    mutating func openFailed(_ error: RedisError, now: Instant) -> Action? {
        guard case .opening(let remaining, _) = state else { return nil }
        guard let next = remaining.first else { return failed(error, now: now) }
        return open(next, then: Array(remaining.dropFirst()), now: now)
    }

    mutating func opened() -> Action? {
        guard case .opening = state else { return nil }
        state = .preparing
        return .prepare
    }

    mutating func prepared() -> Action? {
        guard state == .preparing else { return nil }
        state = .greeting
        return .greet
    }

    mutating func greeted(now: Instant) -> Action? {
        guard state == .greeting else { return nil }
        state = .serving(since: now)
        deadline = nil
        hasServed = true
        return .serve
    }

    /// The server has become a replica.
    mutating func becameReadOnly(now: Instant) -> Action? {
        guard case .serving(let since) = state else { return nil }
        forgetFailures(since: since, now: now)
        state = .draining
        deadline = now + drainTimeout
        return .drain
    }

    /// Nothing is in flight any more on a connection that is being given up.
    mutating func drained(now: Instant) -> Action? {
        guard state == .draining else { return nil }
        return failed(RedisError(.readOnly), now: now)
    }

    /// The attempt, or the connection, came to nothing.
    mutating func failed(_ error: RedisError, now: Instant) -> Action {
        if state == .over { return .stop(error) }
        if case .serving(let since) = state { forgetFailures(since: since, now: now) }
        deadline = nil
        guard hasServed else {
            state = .over
            return .stop(error)
        }
        let pause = backoff.randomPause(after: failures, using: &self.random)
        state = .pausing(until: now + pause)
        failures += 1
        return .drop(error)
    }

    mutating func close() -> Action {
        state = .over
        deadline = nil
        return .stop(RedisError(.closed))
    }

    /// Time has passed.
    mutating func tick(now: Instant) -> Action? {
        switch state {
        case .pausing(let until):
            return now >= until ? start(now: now) : nil
        case .draining:
            guard let deadline, now >= deadline else { return nil }
            return failed(RedisError(.readOnly), now: now)
        case .opening(let remaining, let until) where !remaining.isEmpty:
            return now >= until ? openFailed(RedisError(.connectTimeout, "while connecting"), now: now) : nil
        default:
            guard let deadline, now >= deadline else { return nil }
            return failed(RedisError(.connectTimeout, "while \(phase)"), now: now)
        }
    }

    /// Each address gets an even share of the time that is left: one that swallows packets must not cost the others their turn.
    private mutating func open(_ endpoint: SocketAddress, then remaining: [SocketAddress], now: Instant) -> Action {
        let end = deadline ?? now
        state = .opening(remaining: remaining, until: now + (end - now) / (remaining.count + 1))
        return .open(endpoint)
    }

    private mutating func forgetFailures(since: Instant, now: Instant) {
        if now - since >= Self.stableAfter { failures = 0 }
    }

    private var phase: String {
        switch state {
        case .lookingUp: "looking up its name"
        case .opening: "connecting"
        case .preparing: "setting up TLS; a port without TLS needs redis://"
        default: "waiting for its greeting"
        }
    }
}
