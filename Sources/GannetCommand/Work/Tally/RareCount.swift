/// Counts what is told as a total now and then, and at the end: a struct without a clock.
struct RareCount: Sendable {
    private(set) var total = 0
    private var told = 0
    private var toldAt: ContinuousClock.Instant?

    private static let pause = Duration.seconds(60)

    /// - Returns: The total, where it is time to tell it.
    mutating func add(_ count: Int, at now: ContinuousClock.Instant) -> Int? {
        total += count
        if let toldAt, now - toldAt < Self.pause { return nil }
        toldAt = now
        return rest()
    }

    /// The total, where not all of it was told.
    mutating func rest() -> Int? {
        guard total > told else { return nil }
        told = total
        return total
    }
}
