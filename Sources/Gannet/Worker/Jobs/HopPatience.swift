internal import GannetBasics

/// Decides how long a request waits for a place at a host that a redirect leads to. A struct without a clock.
struct HopPatience {
    enum Step: Equatable {
        case wait(Duration)
        /// The request ends, and its job comes back after this time.
        case giveUp(Duration)
    }

    /// The longest time for which a request waits.
    static let longestWait = Duration.seconds(10)
    /// A turn at a host is kept for a quarter of a second.
    private static let backoff = Backoff(first: .milliseconds(4), longest: .milliseconds(100))
    private static let shortestReturn = Duration.seconds(1)
    private static let longestReturn = Duration.seconds(60)

    private let comesBackAfter: Duration
    private var waited = Duration.zero
    private var waits = 0

    /// - Parameter throttled: How long ago the job was put off for the first time. It comes back the later, the longer that is.
    init(throttled: Duration) { comesBackAfter = min(Self.longestReturn, max(Self.shortestReturn, throttled / 4)) }

    /// - Parameters:
    ///   - opensIn: The time until the host may have a free place, if it is known because the host cools down or has a rate.
    ///   - mayWait: Whether not too many requests wait already.
    ///   - random: From 0 to 1, so that waiting requests do not all ask at the same time.
    mutating func next(opensIn: Duration?, mayWait: Bool = true, random: Double) -> Step {
        let left = Self.longestWait - waited
        let opens = opensIn ?? .zero
        if !mayWait || left <= .zero || opens > left {
            return .giveUp(opens + comesBackAfter * (1 + 4 * random))
        }
        let next = min(max(Self.backoff.pause(after: waits, random: random, atLeast: 0.5), opens), left)
        waited += next
        waits += 1
        return .wait(next)
    }
}

/// How many of a worker's requests wait for a place at a host that a redirect leads to: a fourth of them may.
final class HopWaits: Sendable {
    private let most: Int
    private let count = Mutex(0)

    init(places: Int) { most = max(1, places / 4) }

    /// False where too many wait.
    func enter() -> Bool {
        count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
