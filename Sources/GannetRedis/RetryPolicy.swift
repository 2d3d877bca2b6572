internal import GannetBase
package import GannetHTTP
package import GannetQueue

/// Decides whether a failed attempt at a job is repeated, and when. It has no clock, queue or randomness inside.
///
/// A failure goes this way: the `Kind` of the error has a `RetryClass`, which has a decision here, which makes the job's settlement.
package struct RetryPolicy: Sendable, Equatable {
    /// How many retries a job gets, without the uncharged ones, before it is given up.
    package var retries = 3

    /// The longest pause before the first retry. This bound doubles with each further retry.
    package var firstPause = Duration.seconds(1)
    package var longestPause = Duration.seconds(60)

    /// A host's request for a shorter pause is ignored. Otherwise the next request would follow without a pause.
    package var shortestCoolDown = Duration.seconds(1)

    /// A host that asks for a longer pause is asked again after this time.
    package var longestCoolDown = Duration.seconds(3600)

    /// The longest time for which a job is put off while this machine has no network.
    package var networkPause = Duration.seconds(10)

    /// A job is given up when its host, or a missing network, has put it off for this long; a host when it has asked for rests for this long.
    package var giveUpAfter = Duration.seconds(3600)

    /// A host that does not answer is given up after this, together with all jobs that wait for it.
    package var hostPatience = HostPatience.usual

    package init() {}

    package var wait: WaitPatience { WaitPatience(silence: hostPatience.time, rests: giveUpAfter) }

    package enum Decision: Sendable, Equatable {
        case retry(after: Duration)
        case coolDown(Duration?)
        /// As `retry`, without a charge. Neither the URL nor its host is to blame.
        case putOff(Duration)
        case giveUp
    }

    /// - Parameters:
    ///   - failures: Attempts charged to the job before this one.
    ///   - random: From 0 to 1. Pauses are spread over their whole length, so that jobs that failed together do not come back together.
    package func decide(_ failure: FetchError.RetryClass, failures: Int, random: Double) -> Decision {
        switch failure {
        case .never, .local, .cancelled: return .giveUp
        case .throttled(let pause):
            return .coolDown(pause.flatMap { $0 < shortestCoolDown ? nil : min($0, longestCoolDown) })
        case .withoutNetwork:
            // The pause is at least half of `networkPause`, because the next worker may be on this machine too. A worker of another machine
            // may reach the host, so the host does not rest.
            return .putOff(Backoff(first: networkPause, longest: networkPause).pause(after: 0, random: random, atLeast: 0.5))
        case .unreachable, .later:
            if failures >= retries { return .giveUp }
            return .retry(after: Backoff(first: firstPause, longest: longestPause).pause(after: failures, random: random))
        }
    }
}

extension Settlement.HostNews {
    /// The news of its host that a failed attempt brings.
    package init(_ kind: FetchError.Kind) {
        self =
            switch kind {
            case .dns(.noSuchName), .dns(.noAddress), .dns(.serverFailed), .connect, .tls, .reset, .timeout(.resolve), .timeout(.connect),
                .timeout(.response):
                .silent
            // An attempt with one of these errors got an answer, or the beginning of one.
            case .status, .throttled, .timeout(.body), .truncated, .disallowed, .refusedRedirect, .tooManyRedirects, .tooLarge,
                .headersTooLarge,
                .badEncoding, .unexpectedContent:
                .answered
            case .dns(.nobodyAnswers), .proxy, .timeout(.deadline), .tooSlow, .protocolError,
                .invalidURL, .invalidRequest, .refusedAddress, .cancelled, .storage, .systemLimit, .engine:
                .none
            }
    }
}
