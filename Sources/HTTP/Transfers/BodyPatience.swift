/// For how long a transfer may go on without a move. It takes times, and has no clock.
///
/// The timeout is for all that does not move: look-ups, connections, waits for answers, and bodies that nobody wants. A body that is
/// wanted has its pace instead. The time in which it moved is given back, for the request that asks for its rest.
struct BodyPatience {
    typealias Instant = ContinuousClock.Instant

    private var pace: BodyPace
    /// By how much the end of the timeout has moved on.
    private(set) var grace = Duration.zero
    private var began: Instant?
    private var lastCame: Instant?
    private var heldBackSince: Instant?

    init(_ settings: EngineSettings) { pace = BodyPace(settings) }

    init(_ pace: BodyPace) { self.pace = pace }

    /// A body that is wanted begins.
    mutating func begins(at now: Instant) {
        pace.begins(at: now)
        (began, lastCame, heldBackSince) = (now, now, nil)
    }

    /// Bytes have come.
    mutating func came(_ count: Int, ofBody isWanted: Bool, at now: Instant) {
        if isWanted {
            pace.came(count, at: now)
            lastCame = now
        } else if let heldBackSince {
            grace += now - heldBackSince
        }
        heldBackSince = nil
    }

    /// Our own speed limit makes the transfer wait, which is no fault of the origin.
    mutating func isHeldBack(at now: Instant) {
        heldBackSince = heldBackSince ?? now
        pace.isHeldBack(at: now)
    }

    /// The body broke off. Its silence at the end did not move.
    mutating func breaks(at now: Instant) {
        pace.stops(at: now)
        if let began, let lastCame { grace += lastCame - began }
        (began, lastCame, heldBackSince) = (nil, nil, nil)
    }

    /// When a body is to be looked at; nil while our limit holds it back.
    /// - Parameter deadline: The end of the timeout, for a body that nobody wants.
    func nextLook(atBody isWanted: Bool, deadline: Instant) -> Instant? {
        if heldBackSince != nil { return nil }
        return isWanted ? pace.due : deadline
    }

    mutating func look(at now: Instant) -> BodyPace.Verdict { pace.look(at: now) }
}
