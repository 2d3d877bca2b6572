internal import GannetBasics

/// How a request waits for a place at a host that it was led to: a pure function of what it heard, and how often.
struct HopPatience {
    enum Step: Equatable {
        case wait(Duration)
        /// The job comes back after this time.
        case giveUp(Duration)
    }

    /// Longer than this nobody waits with a place at another host.
    static let longestWait = Duration.seconds(10)
    private static let backoff = Backoff(first: .milliseconds(4), longest: .milliseconds(250))
    private static let shortestReturn = Duration.seconds(1)

    private var waited = Duration.zero
    private var waits = 0

    /// - Parameters:
    ///   - opensIn: When the host may have room, where that is known: it rests, or has a rate.
    ///   - random: From 0 to 1, so that those who wait do not ask at once.
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
