import Testing

@testable import GannetHTTP

@Suite struct FailureDecisionTests {
    /// With times for failures whose answers give none.
    private let policy = FreshnessPolicy { $0.failures = .brief }

    private func decision(
        _ kind: FetchError.Kind, headers: [String] = [], retryAfter: Duration? = nil, request: RequestFacts = Kept.request,
        policy: FreshnessPolicy? = nil
    ) -> (kept: Duration, isForOthers: Bool) {
        let error = FetchError(kind: kind, url: Kept.url, retryAfter: retryAfter, headers: HTTPLines.headers(headers))
        let decision = FailureDecision(
            after: error, for: request, requestedAt: .came, failedAt: .came, policy: policy ?? self.policy)
        return (decision.keptUntil - .came, decision.isForOthers)
    }

    @Test(
        arguments: [
            (.status(404), 300, true), (.status(410), 300, true), (.status(400), 60, true),
            (.status(401), 60, true),
            (.status(403), 60, true), (.status(451), 60, true), (.status(300), 60, true),
            (.status(302), 60, true),
            (.status(500), 1, true), (.status(502), 1, true), (.status(504), 1, true), (.status(599), 1, true),
            (.dns(.noSuchName), 60, true), (.dns(.noAddress), 2, true), (.dns(.serverFailed), 2, true),
            (.dns(.nobodyAnswers), 0, false), (.proxy, 0, false), (.tls, 60, true), (.refusedAddress, 60, true),
            (.connect, 2, true), (.timeout(.resolve), 2, true), (.timeout(.connect), 2, true),
            (.timeout(.response), 1, true), (.timeout(.body), 1, true), (.tooSlow, 1, true), (.reset, 1, true),
            (.truncated, 1, true), (.refusedRedirect, 60, true), (.tooManyRedirects, 60, true),
            (.tooLarge, 60, true),
            (.headersTooLarge, 60, true), (.badEncoding, 60, true), (.protocolError, 60, true),
            (.status(429), 1, true), (.status(503), 1, true), (.status(408), 1, true), (.throttled, 1, true),
            (.invalidURL, 0, true), (.invalidRequest, 0, true), (.cancelled, 0, false), (.storage, 0, false),
            (.systemLimit, 0, false), (.engine, 0, false),
        ] as [(FetchError.Kind, Int, Bool)])
    func `a failure stands for its URL by its class`(kind: FetchError.Kind, seconds: Int, isForOthers: Bool) {
        let decision = decision(kind)
        #expect(decision.kept == .seconds(seconds))
        #expect(decision.isForOthers == isForOthers)
    }

    @Test(
        arguments: [
            (["Cache-Control: max-age=20"], 20, true), (["Cache-Control: max-age=20, s-maxage=40"], 40, true),
            (["Expires: {30}"], 30, true), (["Cache-Control: max-age=20", "Age: 5"], 15, true),
            (["Cache-Control: max-age=20", "Age: 50"], 0, true), (["Cache-Control: max-age=0"], 0, true),
            (["Cache-Control: max-age=x"], 0, true), (["Cache-Control: no-cache"], 0, true),
            (["Cache-Control: max-age=20, no-cache"], 0, true), (["Cache-Control: max-age=999999"], 3600, true),
            (["Cache-Control: no-store"], 0, true), (["Cache-Control: private, max-age=20"], 0, true),
            (["Last-Modified: {-864000}"], 300, true), (["ETag: \"a\""], 300, true),
            (["Cache-Control: max-age=20", "Vary: *"], 0, true), (["Cache-Control: max-age=20", "Vary: X-A"], 20, true),
            (["Cache-Control: max-age=20", "Vary: Accept-Encoding"], 20, true),
        ] as [([String], Int, Bool)])
    func `an answer that says for how long is heeded`(headers: [String], seconds: Int, isForOthers: Bool) {
        let decision = decision(.status(404), headers: headers)
        #expect(decision.kept == .seconds(seconds))
        #expect(decision.isForOthers == isForOthers)
    }

    @Test func `a 5xx or a 403 may say for how long, too`() {
        #expect(decision(.status(500), headers: ["Cache-Control: max-age=20"]).kept == .seconds(20))
        #expect(decision(.status(403), headers: ["Cache-Control: max-age=20"]).kept == .seconds(20))
        #expect(decision(.status(431), headers: ["Cache-Control: max-age=20"]).kept == .zero)
    }

    /// RFC 9111, section 3: without a time of the policy's own, only an answer that gives a lifetime is remembered.
    @Test(
        arguments: [
            (.status(403), [], 0), (.status(404), [], 0), (.status(500), [], 0), (.status(503), [], 0), (.status(429), [], 0),
            (.throttled, [], 0), (.dns(.noSuchName), [], 0), (.tls, [], 0), (.connect, [], 0), (.tooLarge, [], 0),
            (.status(404), ["Cache-Control: max-age=20"], 20), (.status(503), ["Cache-Control: max-age=20"], 20),
            (.status(403), ["Expires: {30}"], 30), (.status(404), ["Cache-Control: max-age=20, no-store"], 0),
            (.status(429), ["Cache-Control: max-age=20"], 0), (.status(404), ["Content-Type: image/png"], 0),
            // A guess, of a tenth of the time since the last change.
            (.status(404), ["Last-Modified: {-600}"], 60), (.status(403), ["Last-Modified: {-600}"], 0),
            (.status(404), ["Last-Modified: {-600}", "Cache-Control: no-cache"], 0),
            (.status(404), ["Last-Modified: {-600}", "Cache-Control: must-revalidate"], 0),
        ] as [(FetchError.Kind, [String], Int)])
    func `by default a failure is remembered only if its answer gives a lifetime`(kind: FetchError.Kind, headers: [String], seconds: Int) {
        let policy = FreshnessPolicy()
        #expect(decision(kind, headers: headers, retryAfter: .seconds(40), policy: policy).kept == .seconds(seconds))
    }

    @Test func `a host that asks for patience gets what it asks for`() {
        #expect(decision(.status(503), headers: ["Cache-Control: no-store"], retryAfter: .seconds(120)).kept == .seconds(120))
        #expect(decision(.status(429), headers: ["Cache-Control: max-age=5"], retryAfter: .seconds(7200)).kept == .seconds(3600))
        #expect(decision(.throttled, retryAfter: .zero).kept == .zero)
    }

    @Test(arguments: [.status(404), .status(401), .status(429)] as [FetchError.Kind])
    func `a failure for credentials is for no other caller`(kind: FetchError.Kind) {
        let request = RequestFacts(url: Kept.url, headers: HTTPLines.fields(["Authorization: a"]))
        let decision = decision(kind, headers: ["Cache-Control: max-age=20"], retryAfter: .seconds(20), request: request)
        #expect(decision.kept == .zero)
        #expect(decision.isForOthers)
    }

    @Test(
        arguments: [
            (.status(404), true), (.status(410), true), (.status(403), true), (.status(451), true), (.status(429), false),
            (.status(408), false),
            (.status(500), false), (.status(503), false), (.status(302), false), (.dns(.noSuchName), false), (.tls, false),
            (.connect, false),
            (.cancelled, false),
        ] as [(FetchError.Kind, Bool)])
    func `the kept answer is dropped when its origin refuses it, and not when the origin fails`(kind: FetchError.Kind, isDropped: Bool) {
        func outdates(_ request: RequestFacts) -> Bool {
            FailureDecision(
                after: FetchError(kind: kind, url: Kept.url), for: request, requestedAt: .came, failedAt: .came, policy: policy
            ).outdatesKept
        }
        #expect(outdates(Kept.request) == isDropped)
        #expect(!outdates(RequestFacts(url: Kept.url, headers: HTTPLines.fields(["Cookie: a"]))))
    }

    @Test func `the times are the policy's, and none is longer than the longest`() {
        var policy = policy
        policy.failures.missing = .seconds(7)
        policy.failures.tls = .seconds(8)
        policy.failures.maximum = .seconds(5)
        #expect(decision(.status(404), policy: policy).kept == .seconds(5))
        policy.failures.maximum = .seconds(10)
        #expect(decision(.status(404), policy: policy).kept == .seconds(7))
        #expect(decision(.tls, policy: policy).kept == .seconds(8))
        policy.failures.tls = .seconds(-8)
        #expect(decision(.tls, policy: policy).kept == .zero)
    }
}
