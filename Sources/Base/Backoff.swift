/// The pauses between attempts of something that keeps failing: each is longer than the one before, up to a bound.
package struct Backoff: Sendable, Equatable {
    package var first: Duration
    package var longest: Duration
    package var factor: Double

    package init(first: Duration, longest: Duration, factor: Double = 2) {
        self.first = first
        self.longest = longest
        self.factor = factor
    }

    /// The pause before the next attempt.
    /// - Parameter failures: Failed attempts whose pause is over: with none it is the first pause.
    package func pause(after failures: Int) -> Duration {
        var pause = min(first, longest)
        // Without growth the count says nothing, and it may be any number.
        guard pause > .zero, factor > 1 else { return pause }
        for _ in 0..<max(0, failures) {
            pause = pause * factor
            if pause >= longest { return longest }
        }
        return pause
    }

    /// A pause below that one, so that clients that failed together do not come back together.
    /// - Parameters:
    ///   - random: From 0 to 1.
    ///   - share: The part of the pause that is not left to chance: 0 spreads it over its whole length.
    package func pause(after failures: Int, random: Double, atLeast share: Double = 0) -> Duration {
        pause(after: failures) * (share + (1 - share) * min(1, max(0, random)))
    }

    /// A random part of the pause, drawn from a generator.
    package func randomPause(after failures: Int, using random: inout some RandomNumberGenerator) -> Duration {
        pause(after: failures, random: .random(in: 0...1, using: &random))
    }
}
