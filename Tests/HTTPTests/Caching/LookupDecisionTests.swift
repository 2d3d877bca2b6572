import Testing

@testable import GannetHTTP

@Suite struct LookupDecisionTests {
    private let policy = FreshnessPolicy()

    private func decision(
        _ stored: StoredAnswer?, after seconds: Double = 0, random: Double = 0, policy: FreshnessPolicy? = nil,
        options change: (inout LookupOptions) -> Void = { _ in }
    ) -> LookupDecision {
        var options = LookupOptions()
        change(&options)
        return LookupDecision(
            stored, for: Kept.request, options: options, policy: policy ?? self.policy,
            now: .came + .milliseconds((seconds * 1000).rounded()), random: random)
    }

    @Test func `an answer that is missing is fetched, or unavailable`() {
        #expect(decision(nil) == .miss)
        #expect(decision(nil) { $0.onlyIfCached = true } == .unavailable)
    }

    @Test(arguments: [
        "Range: bytes=0-1", "If-None-Match: \"a\"", "If-Modified-Since: never", "if-match: *", "If-Unmodified-Since: x", "If-Range: x",
    ])
    func `the whole is no answer to a request for a part or for news`(header: String) throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60"])
        let request = RequestFacts(url: Kept.url, headers: HTTPLines.fields([header]))
        #expect(LookupDecision(stored, for: request, policy: policy, now: .came, random: 0) == .miss)
    }

    @Test func `the origin is asked with what the answer is known by`() throws {
        let stored = try Kept.answer(["Cache-Control: max-age=0", "ETag: \"a\"", "Last-Modified: {-60}"])
        guard case .revalidate(let conditions, mayServeStaleOnError: false) = decision(stored) else {
            Issue.record("\(decision(stored))")
            return
        }
        #expect(conditions.map(\.name) == ["If-None-Match", "If-Modified-Since"])
        #expect(conditions == stored.conditions)
    }

    @Test func `an answer that cannot be revalidated is fetched again, and may replace a failure`() throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60, stale-if-error=60"])
        #expect(decision(stored, after: 61) == .revalidate([], mayServeStaleOnError: true))
        #expect(decision(stored, after: 120) == .miss)
    }

    @Test(arguments: [
        // Seconds before its end, for a fetch that takes 2: the draw whose lead is that long is 1 - e^(-left/2).
        (2.0, 0.633, true), (2.0, 0.631, false), (1.0, 0.394, true), (1.0, 0.393, false), (10.0, 0.994, true), (10.0, 0.992, false),
        (0.001, 0.001, true), (2.0, 0.0, false), (30.0, 0.999_999_99, true), (30.1, 0.999_999_99, false),
    ])
    func `an answer is fetched early the likelier, the nearer its end and the slower its origin`(
        left: Double, random: Double, isEarly: Bool
    ) throws {
        // With what it took to come, it has 60 seconds left when it is there.
        let stored = try Kept.answer(["Cache-Control: max-age=62"], took: .seconds(2))
        #expect(decision(stored, after: 60 - left, random: random) == (isEarly ? .refreshEarly : .fresh))
    }

    @Test func `of many who use it in each of its seconds a few fetch it early, and most of those near its end`() throws {
        let stored = try Kept.answer(["Cache-Control: max-age=61"], took: .seconds(1))
        let shares = [10.0, 5, 1].map { left in
            (0..<1000).count { decision(stored, after: 60 - left, random: Double($0) / 1000) == .refreshEarly }
        }
        // e^-10, e^-5 and e^-1 of a thousand: 0.05, 6.7 and 367.9.
        #expect(shares == [0, 6, 367])
    }

    @Test func `there is no early refresh in the first half, of an immutable answer, or where it is forbidden`()
        throws
    {
        let slow = try Kept.answer(["Cache-Control: max-age=160"], took: .seconds(100))
        #expect(decision(slow, after: 29.9, random: 0.999) == .fresh)
        #expect(decision(slow, after: 30, random: 0.999) == .refreshEarly)
        #expect(decision(slow, after: 59, random: 0.999) { $0.onlyIfCached = true } == .fresh)
        var never = policy
        never.earlyRefreshFactor = 0
        #expect(decision(slow, after: 59.999, random: 0.999, policy: never) == .fresh)
        let immutable = try Kept.answer(["Cache-Control: max-age=160, immutable"], took: .seconds(100))
        #expect(decision(immutable, after: 59, random: 0.999) == .fresh)
    }

    @Test(arguments: [-1, 1, 2, .nan, .infinity, -.infinity] as [Double])
    func `a random number out of range draws no caller`(random: Double) throws {
        let stored = try Kept.answer(["Cache-Control: max-age=61"], took: .seconds(1))
        #expect(decision(stored, after: 59, random: random) == .fresh)
    }

    @Test func `options and directives together are as strict as either`() {
        var options = LookupOptions()
        options.maximumAge = .seconds(10)
        options.minimumFreshness = .seconds(10)
        options.maximumStaleness = .seconds(10)
        let strict = options.tightened(
            by: CacheControl(lines: ["max-age=5, min-fresh=20, max-stale=5, stale-if-error=5, no-cache, only-if-cached"]))
        #expect(strict.maximumAge == .seconds(5))
        #expect(strict.minimumFreshness == .seconds(20))
        #expect(strict.maximumStaleness == .seconds(5))
        #expect(strict.staleIfError == .seconds(5))
        #expect(strict.refresh && strict.onlyIfCached)
        #expect(options.tightened(by: CacheControl(lines: ["max-age=20, min-fresh=5, max-stale"])) == options)
        #expect(options.tightened(by: CacheControl(lines: [])) == options)
    }
}
