internal import GannetBase

/// The state machine of a connection, without IO, clock or randomness.
///
/// ```
/// start ─▶ lookingUp ─▶ opening ─▶ preparing ─▶ greeting ─▶ serving ─▶ draining
///             ▲                                               │           │
///             └───────────── pausing ◀────────────────────────┴───────────┘
/// ```
///
/// A failure after the first success leads through `pausing` to `lookingUp`. The name is resolved again each time, because it may mean another
/// machine after a failover. A failure before the first success ends the connection, and the caller of `connect` gets the error. Only a server
/// that closes the connection in its greeting is tried again a few times: it may have been restarted in that moment.
struct ConnectionMachine {
    typealias Instant = ContinuousClock.Instant

    enum State: Equatable {
        case idle
        case lookingUp
        /// Connecting to one address, until `until`. Then the `remaining` addresses follow.
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
        /// Set up TLS, if the address asks for it.
        case prepare
        case greet
        case serve
        /// Append no more commands, wait for the pending ones, then call ``drained(now:)``.
        case drain
        /// Close the socket. Pending commands fail with this error.
        case drop(RedisError)
        /// The connection is over. All requests fail with this error.
        case stop(RedisError)
    }

    private(set) var state = State.idle
    private var deadline: Instant?
    private var failures = 0
    /// Connections in a row that the server closed in its greeting.
    private var closedGreetings = 0
    private var hasAnswered = false
    /// A failed attempt is followed by another one: the connection stood before, or its owner has asked for that.
    private var hasServed: Bool
    private let attemptTimeout: Duration
    private let drainTimeout: Duration
    private let backoff: Backoff
    private var random: any RandomNumberGenerator

    /// After a connection that lasted this long, the first pause is the shortest again.
    static let stableAfter = Duration.seconds(5)

    /// How many connections a server may close in its greeting before `connect` fails.
    static let mostClosedGreetings = 3

    /// - Parameter isPersistent: The connection goes on after a first attempt that failed, too.
    init(_ configuration: RedisConfiguration, isPersistent: Bool = false, random: any RandomNumberGenerator) {
        hasServed = isPersistent
        attemptTimeout = configuration.connectTimeout
        drainTimeout = configuration.commandTimeout
        backoff = Backoff(first: configuration.shortestBackoff, longest: configuration.longestBackoff)
        self.random = random
    }

    var isOver: Bool { state == .over }

    var isServing: Bool {
        if case .serving = state { true } else { false }
    }

    /// The time of the next call of ``tick(now:)``.
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

    /// The current address does not answer. The next one follows.
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

    /// The Sentinels have named a new primary, and the connection leads to the old one.
    mutating func hasSuccessor(now: Instant) -> Action? {
        switch state {
        case .opening, .preparing, .greeting, .serving, .draining:
            deadline = nil
            return pause(because: RedisError(.connectionLost, "the Sentinels name another primary now"), now: now)
        case .idle, .lookingUp, .pausing, .over: return nil
        }
    }

    /// No command is pending on a connection that is being closed.
    mutating func drained(now: Instant) -> Action? {
        guard state == .draining else { return nil }
        return failed(RedisError(.readOnly), now: now)
    }

    /// The attempt to connect failed, or the connection was lost.
    mutating func failed(_ error: RedisError, now: Instant) -> Action {
        if state == .over { return .stop(error) }
        if case .serving(let since) = state { forgetFailures(since: since, now: now) }
        deadline = nil
        guard hasServed else {
            state = .over
            return .stop(error)
        }
        return pause(because: error, now: now)
    }

    /// The server has closed the connection before its greeting was complete.
    /// - Parameters:
    ///   - answered: A part of the greeting had come.
    ///   - mayLackTLS: The connection has no TLS, and its address could have it.
    mutating func closedInGreeting(answered: Bool, mayLackTLS: Bool, now: Instant) -> Action {
        closedGreetings += 1
        hasAnswered = hasAnswered || answered
        var detail = "it closed the connection before its greeting was complete"
        guard !hasServed else { return failed(RedisError(.unreachable, detail), now: now) }
        guard closedGreetings >= Self.mostClosedGreetings else {
            deadline = nil
            return pause(because: RedisError(.unreachable, detail), now: now)
        }
        // A server with TLS closes each connection whose first bytes are none of TLS, some of them without a word.
        if !hasAnswered, mayLackTLS { detail = "it closed \(closedGreetings) connections without an answer; a TLS port needs rediss://" }
        return failed(RedisError(.unreachable, detail), now: now)
    }

    private mutating func pause(because error: RedisError, now: Instant) -> Action {
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

    /// Each address gets an equal share of the remaining time, so that a silent one does not use up the time of the others.
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
