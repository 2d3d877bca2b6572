/// What is said of a Redis that goes away and comes back: each time, but where that happens all the time only now and then. A struct without a clock.
struct OutageWords: Sendable {
    private(set) var isAway = false
    private var isTold = false
    private var limit = ComplaintLimit(atFirst: 5, aMinute: 1)

    /// - Returns: `nil` where it was away already.
    mutating func began(at now: ContinuousClock.Instant) -> ComplaintLimit.Word? {
        if isAway { return nil }
        isAway = true
        let word = limit.note(at: now)
        isTold = word != .keep
        return word
    }

    /// - Returns: Whether people have heard that it was away.
    mutating func ended() -> Bool {
        defer { (isAway, isTold) = (false, false) }
        return isTold
    }
}
