import Testing

@testable import GannetHTTP

@Suite struct FailureDecisionTests {
    /// With times for failures whose answers give none.
    private let policy = FreshnessPolicy { $0.failures = .brief }

    private func decision(
        _ kind: FetchError.Kind, headers: [String] = [], retryAfter: Duration? = nil, request: RequestFacts = Kept.request,
        policy: FreshnessPolicy? = nil
    ) -> (kept: Duration, audience: Audience) {
        let error = FetchError(kind: kind, url: Kept.url, retryAfter: retryAfter, headers: HTTPLines.headers(headers))
        let decision = FailureDecision(
            after: error, for: request, requestedAt: .came, failedAt: .came, policy: policy ?? self.policy)
        return (decision.keptUntil - .came, decision.audience)
    }

    @Test(
        arguments: [
            (.status(404), 300, .allWaiting), (.status(410), 300, .allWaiting), (.status(400), 60, .allWaiting),
            (.status(401), 60, .allWaiting),
            (.status(403), 60, .allWaiting), (.status(451), 60, .allWaiting), (.status(300), 60, .allWaiting),
            (.status(302), 60, .allWaiting),
            (.status(500), 1, .allWaiting), (.status(502), 1, .allWaiting), (.status(504), 1, .allWaiting), (.status(599), 1, .allWaiting),
            (.dns(.noSuchName), 60, .allWaiting), (.dns(.noAddress), 2, .allWaiting), (.dns(.serverFailed), 2, .allWaiting),
            (.dns(.nobodyAnswers), 0, .sameMachine), (.proxy, 0, .sameMachine), (.tls, 60, .allWaiting), (.refusedAddress, 60, .allWaiting),
            (.connect, 2, .allWaiting), (.timeout(.resolve), 2, .allWaiting), (.timeout(.connect), 2, .allWaiting),
            (.timeout(.response), 1, .allWaiting), (.timeout(.body), 1, .allWaiting), (.tooSlow, 1, .allWaiting), (.reset, 1, .allWaiting),
            (.truncated, 1, .allWaiting), (.refusedRedirect, 60, .allWaiting), (.tooManyRedirects, 60, .allWaiting),
            (.tooLarge, 60, .allWaiting),
            (.headersTooLarge, 60, .allWaiting), (.badEncoding, 60, .allWaiting), (.protocolError, 60, .allWaiting),
            (.status(429), 1, .allWaiting), (.status(503), 1, .allWaiting), (.status(408), 1, .allWaiting), (.throttled, 1, .allWaiting),
            (.invalidURL, 0, .allWaiting), (.invalidRequest, 0, .sameRequest), (.cancelled, 0, .nobody), (.storage, 0, .sameMachine),
            (.systemLimit, 0, .sameMachine), (.engine, 0, .sameMachine),
        ] as [(FetchError.Kind, Int, Audience)])
    func `a failure stands for its URL by its class`(kind: FetchError.Kind, seconds: Int, audience: Audience) {
        let decision = decision(kind)
        #expect(decision.kept == .seconds(seconds))
        #expect(decision.audience == audience)
    }

    @Test(
        arguments: [
            (["Cache-Control: max-age=20"], 20, .allWaiting), (["Cache-Control: max-age=20, s-maxage=40"], 40, .allWaiting),
            (["Expires: {30}"], 30, .allWaiting), (["Cache-Control: max-age=20", "Age: 5"], 15, .allWaiting),
            (["Cache-Control: max-age=20", "Age: 50"], 0, .allWaiting), (["Cache-Control: max-age=0"], 0, .allWaiting),
            (["Cache-Control: max-age=x"], 0, .allWaiting), (["Cache-Control: no-cache"], 0, .allWaiting),
            (["Cache-Control: max-age=20, no-cache"], 0, .allWaiting), (["Cache-Control: max-age=999999"], 3600, .allWaiting),
            (["Cache-Control: no-store"], 0, .allWaiting), (["Cache-Control: private, max-age=20"], 0, .sameRequest),
            (["Last-Modified: {-864000}"], 300, .allWaiting), (["ETag: \"a\""], 300, .allWaiting),
            (["Cache-Control: max-age=20", "Vary: *"], 0, .sameRequest), (["Cache-Control: max-age=20", "Vary: X-A"], 20, .allWaiting),
            (["Cache-Control: max-age=20", "Vary: Accept-Encoding"], 20, .allWaiting),
        ] as [([String], Int, Audience)])
    func `an answer that says for how long is heeded`(headers: [String], seconds: Int, audience: Audience) {
        let decision = decision(.status(404), headers: headers)
        #expect(decision.kept == .seconds(seconds))
        #expect(decision.audience == audience)
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
        #expect(decision.audience == .sameRequest)
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
