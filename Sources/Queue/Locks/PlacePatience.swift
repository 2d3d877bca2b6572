internal import GannetBase

/// Decides how long a request waits for a place at its host. A struct without a clock.
package struct PlacePatience {
    package enum Step: Equatable {
        case wait(Duration)
        /// The request ends. It may be made again after this time.
        case giveUp(Duration)
    }

    /// The longest time for which a job's request waits at a redirect.
    package static let ofJob = Duration.seconds(10)
    /// A turn at a host is kept for a quarter of a second.
    private static let backoff = Backoff(first: .milliseconds(4), longest: .milliseconds(100))
    private static let shortestReturn = Duration.seconds(1)
    private static let longestReturn = Duration.seconds(60)

    private let longestWait: Duration
    private let comesBackAfter: Duration
    private var waited = Duration.zero
    private var waits = 0

    /// - Parameter throttled: How long ago a job was put off for the first time. It comes back the later, the longer that is.
    package init(_ longestWait: Duration = Self.ofJob, throttled: Duration = .zero) {
        self.longestWait = longestWait
        comesBackAfter = min(Self.longestReturn, max(Self.shortestReturn, throttled / 4))
    }

    /// - Parameters:
    ///   - opensIn: The time until the host may have a free place, if it is known because the host cools down or has a rate.
    ///   - mayWait: Whether not too many requests wait already.
    ///   - random: From 0 to 1, so that waiting requests do not all ask at the same time.
    package mutating func next(opensIn: Duration?, mayWait: Bool = true, random: Double) -> Step {
        let left = longestWait - waited
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
