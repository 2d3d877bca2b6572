internal import GannetBasics

/// Decides how long a request waits for a place at a host that a redirect leads to. A struct without a clock.
struct HopPatience {
    enum Step: Equatable {
        case wait(Duration)
        /// The request ends, and its job comes back after this time.
        case giveUp(Duration)
    }

    /// The longest time for which a waiting request may keep its place at the host before.
    static let longestWait = Duration.seconds(10)
    private static let backoff = Backoff(first: .milliseconds(4), longest: .milliseconds(250))
    private static let shortestReturn = Duration.seconds(1)

    private var waited = Duration.zero
    private var waits = 0

    /// - Parameters:
    ///   - opensIn: The time until the host may have a free place, if it is known because the host cools down or has a rate.
    ///   - random: From 0 to 1, so that waiting requests do not all ask at the same time.
    mutating func next(opensIn: Duration?, random: Double) -> Step {
        let left = Self.longestWait - waited
        let opens = opensIn ?? .zero
        if left <= .zero || opens > left {
            return .giveUp(opens + Self.shortestReturn * (1 + 4 * random))
        }
        let next = min(max(Self.backoff.pause(after: waits, random: random, atLeast: 0.5), opens), left)
        waited += next
        waits += 1
        return .wait(next)
    }
}
