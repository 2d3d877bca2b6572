/// For how long answers are believed, where origins leave it open.
///
/// The defaults are what RFC 9111 has of a cache that nobody configured. `validate()` says what cannot be meant.
package struct FreshnessPolicy: Sendable, Hashable {
    /// An answer that gives no lifetime is fresh for this part of the time since its `Last-Modified`; from 0, which guesses nothing, to 1.
    package var heuristicFraction = 0.1
    /// No guess is longer than this, and a permanent redirect that gives no lifetime is believed for it.
    package var heuristicMaximum: Duration = .seconds(86_400)

    /// An answer is fresh for at least this long after it came, unless its origin forbids the use of stale ones or it sets a cookie.
    package var minimumLifetime: Duration = .zero
    /// And for at most this long, whatever it says.
    package var maximumLifetime: Duration = .seconds(365 * 86_400)

    /// For how long a stale answer may stand in for a failed fetch where the origin does not say (`stale-if-error`). Never for one whose
    /// origin forbids it.
    package var staleIfError: Duration = .zero
    /// A stale answer is of no use after this, whatever its origin says.
    package var maximumStaleness: Duration = .seconds(30 * 86_400)

    /// How eagerly an answer is fetched again before it gets stale: 0 never, 1 when the next fetch is about to outlast it, more earlier.
    package var earlyRefreshFactor = 1.0

    /// An answer that came this much later than now came in the future: a clock was set back, and its age is unknown. Up to this, clocks of
    /// several machines just differ.
    package var clockTolerance: Duration = .seconds(5)

    /// For how long failures are believed.
    package var failures = FailureTimes()

    package init() {}

    /// Why options cannot be used, as a sentence.
    package struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }
}
