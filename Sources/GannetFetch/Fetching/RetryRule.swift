internal import GannetBase
internal import GannetHTTP

/// How often a failed fetch is attempted again, and after which pauses.
package struct RetryRule: Sendable, Hashable {
    /// The most attempts that follow the first.
    package var most = 0
    /// The first pause is up to this long. Each further pause is up to twice as long as the one before.
    package var firstPause = Duration.seconds(1)
    package var longestPause = Duration.seconds(30)

    package init() {}

    /// The pause after a failed attempt; nil when there is no further attempt.
    /// - Parameters:
    ///   - attempts: The attempts until now.
    ///   - random: From 0 up to 1.
    func pause(after error: FetchError, attempts: Int, random: Double) -> Duration? {
        guard attempts <= most, error.isRetryable else { return nil }
        let pause = Backoff(first: firstPause, longest: longestPause).pause(after: attempts - 1, random: random)
        guard let asked = error.retryAfter else { return pause }
        // A host that wants a longer rest gets it: an attempt before its end would fail too.
        return asked <= longestPause ? max(pause, asked) : nil
    }
}
