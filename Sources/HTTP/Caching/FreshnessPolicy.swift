/// For how long answers and failures are used where origins leave it open.
///
/// The defaults are those of RFC 9111 for a cache without any settings. `validate()` finds values that cannot be meant.
public struct FreshnessPolicy: Sendable, Hashable {
    /// The lifetime of an answer that gives none, as a part of the time since its `Last-Modified`. It is from 0, which guesses nothing, to 1.
    public var heuristicFraction = 0.1
    /// The longest lifetime that is guessed. A permanent redirect without a lifetime has this one.
    public var heuristicMaximum: Duration = .seconds(86_400)
    /// The shortest lifetime that is guessed, for an answer or a redirect on the way to it that says nothing about its lifetime.
    public var heuristicMinimum: Duration = .zero
    /// The shortest lifetime that is guessed for an image. An image has `Content-Type: image/…`, or is known by its bytes where the type is
    /// missing or says nothing. No guess is longer than `heuristicMaximum`. Zero treats images like all other answers.
    public var heuristicForImages: Duration = .seconds(3600)

    /// The least lifetime of an answer, counted from its arrival. It does not apply where the origin forbids the use of stale answers, or
    /// where the answer sets a cookie.
    public var minimumLifetime: Duration = .zero
    /// The longest lifetime of an answer, counted from its arrival, whatever the origin says.
    public var maximumLifetime: Duration = .seconds(365 * 86_400)

    /// For how long a stale answer may replace a failed fetch, where the origin does not say so itself (`stale-if-error`). An origin that
    /// forbids stale answers is obeyed.
    public var staleIfError: Duration = .zero
    /// The time after which a stale answer is of no use, whatever the origin says.
    public var maximumStaleness: Duration = .seconds(30 * 86_400)

    /// How early an answer is fetched again before it gets stale. With 0 never; with 1 when the next fetch would take longer than the rest
    /// of the lifetime; with more, earlier.
    public var earlyRefreshFactor = 1.0

    /// How far clocks of several machines may differ. The age of an answer from further in the future is unknown: a clock was set back.
    public var clockTolerance: Duration = .seconds(5)

    /// For how long failures are remembered whose answers give no lifetime. By default they are not: RFC 9111 does not permit it.
    public var failures = FailureTimes()

    public init() {}

    /// The default policy with changes.
    public init(_ change: (inout FreshnessPolicy) -> Void) { change(&self) }
}

/// For how long a failed fetch is remembered for its URL, by kind of failure; zero, the default, means not at all.
///
/// RFC 9111, section 3, lets a cache keep a failure only if its answer gives a lifetime, such as a 404 with `max-age`. Such failures are
/// always remembered. ``brief`` has times for the others too: another attempt would most likely fail again.
public struct FailureTimes: Sendable, Hashable {
    /// 404 and 410, where the answer gives no lifetime.
    public var missing: Duration = .zero
    /// Other 4xx, where the answer gives none.
    public var denied: Duration = .zero
    /// The host's name does not exist.
    public var noSuchHost: Duration = .zero
    /// A certificate that is not trusted, or a handshake that fails.
    public var tls: Duration = .zero
    /// An address that may not be connected to.
    public var refusedAddress: Duration = .zero
    /// An answer that cannot be used: too large, badly encoded, against the rules of HTTP, or redirected in a circle.
    public var unusable: Duration = .zero
    /// No connection or no address, or not in time.
    public var unreachable: Duration = .zero
    /// 5xx where the answer gives no lifetime, a lost connection, or an answer that does not begin or end in time.
    public var failing: Duration = .zero
    /// A host that asks for a pause without saying how long. With zero, a pause that the host names is not remembered either.
    public var throttled: Duration = .zero
    /// No failure is remembered for longer, whatever its answer says.
    public var maximum: Duration = .seconds(3600)

    public init() {}

    /// Times that spare origins and callers attempts which would most likely fail again.
    ///
    /// They are 5 minutes for a missing page, a minute for a denied one, and a second or two for an origin that fails. A host that asks for a
    /// pause gets it.
    public static var brief: FailureTimes {
        var times = FailureTimes()
        times.missing = .seconds(300)
        (times.denied, times.noSuchHost, times.tls, times.refusedAddress, times.unusable) =
            (.seconds(60), .seconds(60), .seconds(60), .seconds(60), .seconds(60))
        times.unreachable = .seconds(2)
        (times.failing, times.throttled) = (.seconds(1), .seconds(1))
        return times
    }
}

extension FreshnessPolicy {
    /// Throws when a value cannot be meant.
    package func validate() throws(InvalidOptions) {
        // Also false for NaN.
        guard (0...1).contains(heuristicFraction) else { throw InvalidOptions("The heuristic fraction must be from 0 to 1.") }
        guard (0...100).contains(earlyRefreshFactor) else { throw InvalidOptions("The factor of early refreshes must be from 0 to 100.") }
        try Self.validate("longest guess", heuristicMaximum)
        try Self.validate("shortest guess", heuristicMinimum)
        try Self.validate("shortest guess for images", heuristicForImages)
        guard heuristicMinimum <= heuristicMaximum else { throw InvalidOptions("The shortest guess must not be above the longest.") }
        try Self.validate("least lifetime", minimumLifetime)
        try Self.validate("longest lifetime", maximumLifetime)
        guard minimumLifetime <= maximumLifetime else { throw InvalidOptions("The least lifetime must not be above the longest.") }
        try Self.validate("time for stale answers after an error", staleIfError)
        try Self.validate("longest staleness", maximumStaleness)
        try Self.validate("tolerance of clocks", clockTolerance, most: .seconds(3600), "1 hour")
        for (name, time) in failures.all { try Self.validate(name, time, most: .seconds(86_400), "1 day") }
    }

    /// A duration of more than ten years is taken for a mistake in the unit.
    private static func validate(
        _ name: String, _ duration: Duration, most: Duration = .seconds(3650 * 86_400), _ words: String = "3650 days"
    ) throws(InvalidOptions) {
        guard (Duration.zero...most).contains(duration) else { throw InvalidOptions("The \(name) must be from 0 to \(words).") }
    }
}

extension FailureTimes {
    fileprivate var all: [(String, Duration)] {
        [
            ("time for missing pages", missing), ("time for denied pages", denied), ("time for host names that do not exist", noSuchHost),
            ("time for TLS errors", tls), ("time for refused addresses", refusedAddress), ("time for unusable answers", unusable),
            ("time for unreachable hosts", unreachable), ("time for failing hosts", failing),
            ("time for throttling hosts", throttled), ("longest time for failures", maximum),
        ]
    }
}
