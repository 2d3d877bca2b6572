/// Whether the body of an answer moves. It takes times and counts, and has no clock.
///
/// A body that brings nothing for a whole window stands still. And each window has to bring enough: `first` bytes a second on average for
/// a body that is younger than `timeout`, and `lasting` for an older one. So a body may last, and its size bounds for how long. Time for
/// which our own speed limit holds the transfer back belongs to no window.
///
/// A body that breaks off and goes on has one pace, so an origin gains no time by breaking off.
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
    private var isHeldBack = false
    /// How old the body was when this window began, and when bytes last came.
    private var windowBegan = Duration.zero
    private var lastCame = Duration.zero
    /// In this window.
    private var bytes: Int64 = 0

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

    /// A body begins, or goes on after a break.
    mutating func begins(at now: Instant) {
        runsSince = now
        lastCame = age
    }

    mutating func came(_ count: Int, at now: Instant) {
        if isHeldBack { (isHeldBack, runsSince) = (false, now) }
        bytes += Int64(count)
        lastCame = age(at: now)
    }

    /// Our own limit lets no more in for now.
    mutating func isHeldBack(at now: Instant) {
        stops(at: now)
        isHeldBack = true
    }

    /// No body comes any more, or for now.
    mutating func stops(at now: Instant) {
        (age, runsSince, isHeldBack) = (age(at: now), nil, false)
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
