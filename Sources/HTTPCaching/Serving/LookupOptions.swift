/// What a caller wants of a kept answer: what a request's `Cache-Control` can say (RFC 9111, section 5.2.1).
package struct LookupOptions: Sendable, Hashable {
    /// No answer is good enough whose age is greater. By itself that also means that it must be fresh; with `maximumStaleness`
    /// it is all that counts: `accepting(upTo:)`.
    package var maximumAge: Duration?
    /// The answer must stay fresh for as long as this.
    package var minimumFreshness: Duration?
    /// An answer will do that has been stale for no longer than this.
    package var maximumStaleness: Duration?
    /// When the origin cannot be asked, an answer will do that has been stale for no longer than this (RFC 5861, section 4).
    package var staleIfError: Duration?
    /// Only what its origin has confirmed to this request will do.
    package var refresh = false
    /// Nothing is to be fetched.
    package var onlyIfCached = false

    package init() {}

    /// Any answer that is no older will do, fresh or stale, unless its origin forbids the use of stale ones.
    package static func accepting(upTo age: Duration) -> Self {
        var options = Self()
        options.maximumAge = age
        options.maximumStaleness = .seconds(DeltaSeconds.forever)
        return options
    }

    /// These together with the directives of a request; where both speak, the stricter counts. A number that cannot be read is the strictest.
    package func tightened(by control: CacheControl) -> Self {
        var options = self
        options.maximumAge = Self.stricter(maximumAge, control.maxAge, strictest: .zero, min)
        options.minimumFreshness = Self.stricter(minimumFreshness, control.minFresh, strictest: .seconds(DeltaSeconds.forever), max)
        options.maximumStaleness = Self.stricter(maximumStaleness, control.maxStale, strictest: .zero, min)
        options.staleIfError = Self.stricter(staleIfError, control.staleIfError, strictest: .zero, min)
        options.refresh = refresh || control.noCache != .absent
        options.onlyIfCached = onlyIfCached || control.onlyIfCached
        return options
    }

    private static func stricter(
        _ own: Duration?, _ told: CacheControl.Seconds, strictest: Duration, _ choose: (Duration, Duration) -> Duration
    ) -> Duration? {
        let other: Duration? =
            switch told {
            case .absent: nil
            case .invalid: strictest
            case .seconds(let seconds): .seconds(seconds)
            }
        guard let own, let other else { return own ?? other }
        return choose(own, other)
    }
}
