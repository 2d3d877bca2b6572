import Testing

@testable import GannetHTTP

@Suite struct StaleIfErrorTests {
    private func permits(
        _ stored: StoredAnswer, _ kind: FetchError.Kind, after seconds: Double, options: LookupOptions = LookupOptions()
    ) -> Bool {
        stored.mayReplace(
            FetchError(kind: kind, url: Kept.url), for: Kept.request, options: options, policy: FreshnessPolicy(),
            now: .came + .seconds(seconds))
    }

    /// RFC 5861, section 4: what would be a 500, 502, 503 or 504 of a gateway's.
    @Test(
        arguments: [
            .status(500), .status(502), .status(503), .status(504), .connect, .proxy, .tls, .timeout(.resolve), .timeout(.connect),
            .timeout(.response), .timeout(.body), .tooSlow, .reset, .truncated, .badEncoding, .protocolError, .throttled,
        ] as [FetchError.Kind] + FetchError.NameFailure.allCases.map { .dns($0) })
    func `a stale answer stands in for an origin that fails`(kind: FetchError.Kind) throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60, stale-if-error=30"])
        #expect(permits(stored, kind, after: 89))
        #expect(!permits(stored, kind, after: 90))
        let strict = try Kept.answer(["Cache-Control: max-age=60, stale-if-error=30, must-revalidate", "ETag: \"a\""])
        #expect(!permits(strict, kind, after: 61))
    }

    @Test(
        arguments: [
            .status(400), .status(403), .status(404), .status(408), .status(410), .status(429), .status(501), .status(505), .status(302),
            .refusedAddress, .disallowed, .refusedRedirect, .tooManyRedirects, .tooLarge, .headersTooLarge, .invalidURL, .invalidRequest,
            .cancelled,
            .storage,
            .systemLimit, .engine,
        ] as [FetchError.Kind])
    func `it does not stand in for an origin's decision, or for a failure on our side`(kind: FetchError.Kind) throws {
        #expect(!permits(try Kept.answer(["Cache-Control: max-age=60, stale-if-error=30"]), kind, after: 61))
    }

    @Test func `whether it may is asked when the fetch has failed, and not when it began`() throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60, stale-if-error=30", "ETag: \"a\""])
        let before = LookupDecision(stored, for: Kept.request, policy: FreshnessPolicy(), now: .came + .seconds(89), random: 0)
        #expect(before == .revalidate(stored.conditions, mayServeStaleOnError: true))
        #expect(!permits(stored, .timeout(.response), after: 119))
    }

    @Test func `a caller who wants it confirmed gets no stale one`() throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60, stale-if-error=30"])
        var options = LookupOptions()
        options.refresh = true
        #expect(!permits(stored, .connect, after: 61, options: options))
        #expect(!permits(stored, .connect, after: 30, options: options))
    }

    @Test func `a fresh answer replaces a failed refresh`() throws {
        #expect(permits(try Kept.answer(["Cache-Control: max-age=60, must-revalidate"]), .connect, after: 59))
    }
}
