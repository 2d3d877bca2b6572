/// Estimates how many transfers will end until an exchange has brought their successors. A struct without a clock.
struct EndRate {
    private var ended = 0
    private var since: ContinuousClock.Instant?
    private var perSecond = 0.0
    private var roundTrip = 0.0

    /// A shorter time says little about the rate.
    private static let shortestWindow = Duration.milliseconds(10)
    /// The share of the newest value.
    private static let weight = 0.3

    mutating func noteEnd() { ended += 1 }

    mutating func noteAnswer(after time: Duration, at now: ContinuousClock.Instant) {
        roundTrip += (time / .seconds(1) - roundTrip) * (roundTrip == 0 ? 1 : Self.weight)
        let began = since ?? now
        since = began
        guard now - began >= Self.shortestWindow else { return }
        perSecond += (Double(ended) / ((now - began) / .seconds(1)) - perSecond) * (perSecond == 0 ? 1 : Self.weight)
        ended = 0
        since = now
    }

    /// Whether so many transfers end within this time.
    func brings(_ number: Int, within time: Duration) -> Bool { perSecond * (time / .seconds(1)) >= Double(number) }

    /// The transfers that end within one round trip and this wait before it.
    func expected(with wait: Duration) -> Int {
        Int((perSecond * (roundTrip + wait / .seconds(1))).rounded(.up))
    }
}
