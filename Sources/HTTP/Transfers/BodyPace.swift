/// Whether the body of an answer moves. It takes times and counts, and has no clock.
///
/// A body that brings nothing for a whole window stands still. And each window has to bring enough: `first` bytes a second on average for
/// a body that is younger than `timeout`, and `lasting` for an older one. So a body may last, and its size bounds for how long. Time for
/// which our own speed limit holds the transfer back belongs to no window.
///
/// A body that breaks off and goes on has one pace, so an origin gains no time by breaking off.
///
/// The timeout is for all else that does not move: look-ups, connections, waits for answers, and bodies that nobody wants. The time in which
/// a body moved is given back, for the request that asks for its rest.
struct BodyPace {
    enum Verdict: Equatable {
        case moves
        case standsStill(for: Duration)
        case isSlow(bytes: Int64, within: Duration)
    }

    typealias Instant = ContinuousClock.Instant

    private let timeout: Duration
    private let window: Duration
    private let first: Int
    private let lasting: Int

    /// The time that the body has had until it last stopped or was held back.
    private var age = Duration.zero
    /// Set while it comes.
    private var runsSince: Instant?
    private var heldBackSince: Instant?
    /// How old the body was when this window began, and when bytes last came.
    private var windowBegan = Duration.zero
    private var lastCame = Duration.zero
    /// In this window.
    private var bytes: Int64 = 0

    /// By how much the end of the timeout has moved on.
    private(set) var grace = Duration.zero
    /// When the body began or went on, and when bytes last came.
    private var moved: (from: Instant, to: Instant)?

    init(timeout: Duration, window: Duration, first: Int, lasting: Int) {
        self.timeout = timeout
        self.window = window
        self.first = first
        self.lasting = lasting
    }

    init(_ settings: EngineSettings) {
        self.init(
            timeout: settings.fetch.timeout, window: settings.minimumSpeedWindow, first: settings.fetch.minimumSpeed,
            lasting: settings.fetch.lastingSpeed)
    }

    /// When the body is looked at next; nil while none comes, and while it is held back.
    var due: Instant? { runsSince.map { $0 + (min(windowBegan, lastCame) + window - age) } }

    /// The same for any body. A body that nobody wants has the rest of the timeout, which ends at the deadline.
    func nextLook(atBody isWanted: Bool, deadline: Instant) -> Instant? {
        if heldBackSince != nil { return nil }
        return isWanted ? due : deadline
    }

    /// A body that is wanted begins, or goes on after a break.
    mutating func begins(at now: Instant) {
        (runsSince, heldBackSince, moved) = (now, nil, (from: now, to: now))
        lastCame = age
    }

    mutating func came(_ count: Int, ofBody isWanted: Bool = true, at now: Instant) {
        if isWanted {
            if heldBackSince != nil { runsSince = now }
            bytes += Int64(count)
            lastCame = age(at: now)
            moved?.to = now
        } else if let heldBackSince {
            grace += now - heldBackSince
        }
        heldBackSince = nil
    }

    /// Our own limit lets no more in for now, which is no fault of the origin.
    mutating func isHeldBack(at now: Instant) {
        heldBackSince = heldBackSince ?? now
        (age, runsSince) = (age(at: now), nil)
    }

    /// The body broke off. Its silence at the end did not move.
    mutating func breaks(at now: Instant) {
        if let moved { grace += moved.to - moved.from }
        (age, runsSince, heldBackSince, moved) = (age(at: now), nil, nil, nil)
    }

    /// To be called when a look is due. After any other answer than `moves`, and at the end of a window, a window begins.
    mutating func look(at now: Instant) -> Verdict {
        let age = age(at: now)
        guard runsSince != nil, age >= min(windowBegan, lastCame) + window else { return .moves }
        let verdict = verdict(at: age)
        if verdict != .moves || age >= windowBegan + window { (windowBegan, bytes) = (age, 0) }
        return verdict
    }

    private func verdict(at age: Duration) -> Verdict {
        let silence = age - lastCame
        if silence >= window { return .standsStill(for: silence) }
        let length = age - windowBegan
        let speed = windowBegan < timeout ? first : lasting
        // The look may come late, and then the body had more time.
        if length < window || .seconds(1) * Int(clamping: bytes) >= length * speed { return .moves }
        return silence >= length / 2 ? .standsStill(for: silence) : .isSlow(bytes: bytes, within: length)
    }

    private func age(at now: Instant) -> Duration { age + (runsSince.map { max(.zero, now - $0) } ?? .zero) }
}

/// The times of a transfer that libcurl does not watch.
extension Transfer {
    /// The end of the time for all that does not move.
    var deadline: ContinuousClock.Instant { start + pace.grace + settings.fetch.timeout }

    /// The rest of that time.
    var timeLeft: Duration { max(.zero, deadline - .now) }

    /// When the engine has to look whether the transfer goes on; nil where libcurl watches the time, or the transfer waits for us.
    var nextLook: ContinuousClock.Instant? {
        if let answerDeadline { return answerDeadline }
        guard handle != nil, state.phase == .body else { return nil }
        return pace.nextLook(atBody: state.hasBody, deadline: deadline)
    }

    /// To be called when `nextLook` is over. False ends the transfer.
    func look(at now: ContinuousClock.Instant) -> Bool {
        if answerDeadline != nil {
            state.stop = .failure(.timeout(.response), "no answer within \(TransferState.seconds(settings.answerTimeout))")
        } else if state.hasBody {
            return state.tookFromWire(bytesOnWire()) && state.looked(pace.look(at: now))
        } else {
            state.stop = .outOfTime
        }
        return false
    }

    /// The bytes of its connection that the current answer has taken. On a used connection the first look says how many belong to earlier answers.
    private func bytesOnWire() -> UInt64 {
        guard let ends, let read = handle?.readBytes(ends) else { return 0 }
        let before = readBefore ?? (state.isOnUsedConnection ? read - min(read, UInt64(state.transferredBytes)) : 0)
        readBefore = before
        return read - min(read, before)
    }
}
