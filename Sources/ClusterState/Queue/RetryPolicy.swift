internal import GannetBasics

/// The kind of failure of an attempt, as far as the retry depends on it.
package enum AttemptFailure: Sendable, Equatable {
    /// No connection to the host, or no address of it.
    case unreachable
    /// The next attempt may do better: a timeout, a reset, a 5xx.
    case transient
    /// The host asked for a pause, of this length where it said one.
    case throttled(Duration?)
    /// This machine could look up no name at all. That is no URL's fault.
    case withoutNetwork
    /// Every attempt would fail like this.
    case final
}

/// Decides what follows a failed attempt: no clock, queue or randomness inside.
package struct RetryPolicy: Sendable, Equatable {
    /// Attempts after the first that are charged to a job before it is given up.
    package var retries = 3

    /// The pause before the first retry is up to this, before the second up to twice this, and so on.
    package var firstPause = Duration.seconds(1)
    package var longestPause = Duration.seconds(60)

    /// A shorter request of a host is ignored: it would be asked again without a pause.
    package var shortestCoolDown = Duration.seconds(1)

    /// A host that asks for longer is asked again after this.
    package var longestCoolDown = Duration.seconds(3600)

    /// While there is no network, a job is put off for up to this.
    package var networkPause = Duration.seconds(10)

    /// A job is given up when its host, or a missing network, has been putting it off for this long.
    package var giveUpAfter = Duration.seconds(24 * 3600)

    /// A host that has taken no connection for this long is given up, and with it all jobs that wait for it; zero for never.
    package var hostPatience = Duration.seconds(15 * 60)

    package init() {}

    package enum Decision: Sendable, Equatable {
        case retry(after: Duration)
        case coolDown(Duration?)
        case giveUp
        /// Given up because its host put it off for too long.
        case giveUpThrottled
    }

    /// - Parameters:
    ///   - failures: Attempts charged to the job before this one.
    ///   - throttled: For how long its host has been putting it off.
    ///   - random: From 0 to 1. Pauses are spread over their whole length: what failed together must not come back together.
    package func decide(_ failure: AttemptFailure, failures: Int, throttled: Duration, random: Double) -> Decision {
        switch failure {
        case .final: return .giveUp
        case .throttled(let pause):
            if throttled >= giveUpAfter { return .giveUpThrottled }
            return .coolDown(pause.flatMap { $0 < shortestCoolDown ? nil : min($0, longestCoolDown) })
        case .withoutNetwork:
            // Half of it at least: the next worker may be on this machine too.
            let pause = Backoff(first: networkPause, longest: networkPause).pause(after: 0, random: random, atLeast: 0.5)
            return throttled >= giveUpAfter ? .giveUpThrottled : .coolDown(pause)
        case .unreachable, .transient:
            if failures >= retries { return .giveUp }
            return .retry(after: Backoff(first: firstPause, longest: longestPause).pause(after: failures, random: random))
        }
    }
}
