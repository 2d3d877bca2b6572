package import HTTPEngine

extension FreshnessPolicy {
    /// Throws when a value could not be meant.
    package func validate() throws(InvalidOptions) {
        // Also false for what is no number.
        guard (0...1).contains(heuristicFraction) else { throw InvalidOptions("The heuristic fraction must be from 0 to 1.") }
        guard (0...100).contains(earlyRefreshFactor) else { throw InvalidOptions("The factor of early refreshes must be from 0 to 100.") }
        try Self.validate("longest guess", heuristicMaximum)
        try Self.validate("shortest guess", heuristicMinimum)
        guard heuristicMinimum <= heuristicMaximum else { throw InvalidOptions("The shortest guess must not be above the longest.") }
        try Self.validate("least lifetime", minimumLifetime)
        try Self.validate("longest lifetime", maximumLifetime)
        guard minimumLifetime <= maximumLifetime else { throw InvalidOptions("The least lifetime must not be above the longest.") }
        try Self.validate("time for stale answers after an error", staleIfError)
        try Self.validate("longest staleness", maximumStaleness)
        try Self.validate("tolerance of clocks", clockTolerance, most: .seconds(3600), "1 hour")
        for (name, time) in failures.all { try Self.validate(name, time, most: .seconds(86_400), "1 day") }
    }

    /// More than ten years is a mistake in the unit.
    private static func validate(
        _ name: String, _ duration: Duration, most: Duration = .seconds(3650 * 86_400), _ words: String = "3650 days"
    ) throws(InvalidOptions) {
        guard (Duration.zero...most).contains(duration) else { throw InvalidOptions("The \(name) must be from 0 to \(words).") }
    }
}

extension FailureTimes {
    fileprivate var all: [(String, Duration)] {
        [
            ("time for what is missing", missing), ("time for what is denied", denied), ("time for names that do not exist", noSuchHost),
            ("time for TLS errors", tls), ("time for refused addresses", refusedAddress), ("time for answers of no use", unusable),
            ("time for hosts that are not reached", unreachable), ("time for hosts that fail", failing),
            ("time for hosts that ask for patience", throttled), ("longest time for failures", maximum),
        ]
    }
}
