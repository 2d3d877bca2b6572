internal import GannetBase

/// The kinds of failed attempts, as far as the retry depends on them.
package enum AttemptFailure: Sendable, Equatable {
    /// There was no connection to the host, no address for it, or no answer.
    case unreachable
    /// The next attempt may succeed: this one ended with a timeout, a reset or a 5xx.
    case transient
    /// The host asked for a pause. The value is the pause's length, where the host named one.
    case throttled(Duration?)
    /// This machine could not look up any name. The URL is not the cause.
    case withoutNetwork
    /// Every further attempt would fail in the same way.
    case final
}

/// How long jobs wait for a host that does not answer.
package struct HostPatience: Sendable, Equatable {
    /// For a host that has answered in the last hour; zero for ever.
    package var time: Duration

    /// Any other host is given up after this many requests without an answer, if that is sooner; 0 for a host that is treated like one that
    /// has answered.
    package var probes: Int

    package init(_ time: Duration, probes: Int = 0) {
        self.time = time
        self.probes = probes
    }

    package static let usual = HostPatience(.seconds(15 * 60), probes: 3)
    package static let endless = HostPatience(.zero)
}

/// How long workers wait for hosts, at most.
package struct WaitPatience: Sendable, Equatable {
    /// For a host that does not answer; zero for ever.
    package var silence: Duration
    /// For a host that asks for rests; zero for ever.
    package var rests: Duration

    package init(silence: Duration, rests: Duration) {
        self.silence = silence
        self.rests = rests
    }

    /// The time that is left; `nil` for ever.
    func left(afterSilence time: Duration) -> Duration? { silence == .zero ? nil : max(.zero, silence - time) }
    func left(afterRests time: Duration) -> Duration? { rests == .zero ? nil : max(.zero, rests - time) }

    /// The time within which a host answers or is given up, if it is not given up already; `nil` where that is not known.
    func left(of host: WaitingHost) -> Duration? {
        guard !host.isGivenUp, let since = host.since else { return nil }
        return host.failures > 0 ? left(afterSilence: since) : left(afterRests: since)
    }

    /// The longest of the living workers; `nil` without workers, or where one says nothing: it may wait for ever.
    static func longest(of workers: [WorkerStatus], at now: Int) -> WaitPatience? {
        let patiences = workers.filter { $0.state(at: now) != .silent }.map { $0.record?.patience }
        return patiences.contains(nil) ? nil : patiences.compactMap(\.self).reduce(nil) { $0?.longer($1) ?? $1 }
    }

    /// The longer of both, for each kind of host.
    func longer(_ other: WaitPatience) -> WaitPatience {
        func longer(_ one: Duration, _ other: Duration) -> Duration { one == .zero || other == .zero ? .zero : max(one, other) }
        return WaitPatience(silence: longer(silence, other.silence), rests: longer(rests, other.rests))
    }
}

/// Decides whether a failed attempt is repeated, and when. It has no clock, queue or randomness inside.
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
        case giveUp
    }

    /// - Parameters:
    ///   - failures: Attempts charged to the job before this one.
    ///   - random: From 0 to 1. Pauses are spread over their whole length, so that jobs that failed together do not come back together.
    package func decide(_ failure: AttemptFailure, failures: Int, random: Double) -> Decision {
        switch failure {
        case .final: return .giveUp
        case .throttled(let pause):
            return .coolDown(pause.flatMap { $0 < shortestCoolDown ? nil : min($0, longestCoolDown) })
        case .withoutNetwork:
            // The pause is at least half of `networkPause`, because the next worker may be on this machine too.
            return .coolDown(Backoff(first: networkPause, longest: networkPause).pause(after: 0, random: random, atLeast: 0.5))
        case .unreachable, .transient:
            if failures >= retries { return .giveUp }
            return .retry(after: Backoff(first: firstPause, longest: longestPause).pause(after: failures, random: random))
        }
    }
}
