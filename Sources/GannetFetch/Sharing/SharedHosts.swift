internal import GannetBase
package import GannetHTTP

/// The places at hosts, which processes share: how many requests a host has at once, how soon after each other, and when it rests.
package protocol SharedHosts: Sendable {
    /// Waits for a place of one request at a host.
    /// - Parameters:
    ///   - since: When the wait began. It has a bound.
    ///   - wait: Is told when the host may have a place, while this waits.
    func enter(_ host: String, since: ContinuousClock.Instant, _ wait: HostWait) async -> SharedHostAnswer
}

package enum SharedHostAnswer: Sendable {
    /// With the call that gives the place back.
    case entered(LeaveHost)
    /// There is no place in time, or the host is given up.
    case refused(FetchError)
    /// Nobody knows the places of hosts at this moment.
    case unavailable
    case cancelled
}

/// Gives the place of one request at a host back when the request has ended. Takes the error of the request, and nil for a host that answered.
package typealias LeaveHost = @Sendable (FetchError?) async -> Void

/// When the host of a fetch may have a place for it, as far as that is known.
package final class HostWait: Sendable {
    private let opening = Mutex<ContinuousClock.Instant?>(nil)

    package init() {}

    /// - Parameter opening: nil when the fetch waits for no host.
    package func note(_ opening: ContinuousClock.Instant?) { self.opening.withLock { $0 = opening } }

    /// For how long the fetch waits still; nil when it waits for no host.
    func left(at now: ContinuousClock.Instant) -> Duration? { opening.withLock { $0 }.map { max(.zero, $0 - now) } }
}
