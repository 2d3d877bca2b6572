/// For how long answers are believed, where origins leave it open.
///
/// The defaults are what RFC 9111 has of a cache that nobody configured. `validate()` says what cannot be meant.
public struct FreshnessPolicy: Sendable, Hashable {
    /// An answer that gives no lifetime is fresh for this part of the time since its `Last-Modified`; from 0, which guesses nothing, to 1.
    public var heuristicFraction = 0.1
    /// No guess is longer than this, and a permanent redirect that gives no lifetime is believed for it.
    public var heuristicMaximum: Duration = .seconds(86_400)
    /// No guess is shorter than this: an answer that says nothing about its lifetime, or a redirect on the way to it, is believed for so long.
    public var heuristicMinimum: Duration = .zero

    /// An answer is fresh for at least this long after it came, unless its origin forbids the use of stale ones or it sets a cookie.
    public var minimumLifetime: Duration = .zero
    /// And for at most this long, whatever it says.
    public var maximumLifetime: Duration = .seconds(365 * 86_400)

    /// For how long a stale answer may stand in for a failed fetch where the origin does not say (`stale-if-error`). Never for one whose
    /// origin forbids it.
    public var staleIfError: Duration = .zero
    /// A stale answer is of no use after this, whatever its origin says.
    public var maximumStaleness: Duration = .seconds(30 * 86_400)

    /// How eagerly an answer is fetched again before it gets stale: 0 never, 1 when the next fetch is about to outlast it, more earlier.
    public var earlyRefreshFactor = 1.0

    /// An answer that came this much later than now came in the future: a clock was set back, and its age is unknown. Up to this, clocks of
    /// several machines just differ.
    public var clockTolerance: Duration = .seconds(5)

    /// For how long failures are believed.
    public var failures = FailureTimes()

    public init() {}

    /// The default policy with some of it changed.
    public init(_ change: (inout FreshnessPolicy) -> Void) { change(&self) }
}
