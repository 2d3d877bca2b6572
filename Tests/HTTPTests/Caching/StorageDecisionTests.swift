import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite struct StorageDecisionTests {
    private func decision(_ lines: [String], request: RequestFacts = Kept.request) -> StorageDecision {
        StorageDecision(for: Kept.exchange(lines, request: request), policy: FreshnessPolicy())
    }

    @Test(arguments: [[], ["Cache-Control: max-age=0"], ["Expires: 0"], ["Last-Modified: {0}", "Date: {0}"], ["ETag: a"]])
    func `an answer that is stale from the start and cannot be revalidated is not kept`(lines: [String]) {
        #expect(decision(lines) == .refuse(.ofNoUse))
    }

    @Test(arguments: [
        ["Cache-Control: max-age=1"], ["ETag: \"a\""], ["Last-Modified: {-1}", "Date: {0}", "Cache-Control: max-age=0"],
        ["Cache-Control: max-age=0, stale-while-revalidate=1"], ["Cache-Control: max-age=0, stale-if-error=1"],
    ])
    func `an answer that can be used or revalidated in any way is kept`(lines: [String]) {
        guard case .keep = decision(lines) else {
            Issue.record("\(decision(lines))")
            return
        }
    }

    @Test func `the terms say whether it is everybody's, and keep the headers`() throws {
        let request = RequestFacts(url: Kept.url, headers: HTTPLines.fields(["Accept: image/avif"]))
        let kept = decision(["Cache-Control: max-age=60, public", "Vary: Accept, X-A"], request: request)
        guard case .keep(let terms) = kept else { throw KitError("not kept: \(kept)") }
        #expect(terms.isForEverybody)
        #expect(terms.headers.headers["vary"] == "Accept, X-A")
    }

    /// An answer that is not kept may still be shared with callers that wait, except for these reasons.
    @Test(arguments: StorageDecision.Reason.allCases)
    func `waiting callers get an answer that is not kept, unless it is private or a part`(reason: StorageDecision.Reason) {
        let isSpecial: [StorageDecision.Reason] = [.noStore, .isPrivate, .credentials, .variesByAnything, .partial, .notModified]
        #expect(reason.isForOneRequest == isSpecial.contains(reason))
    }

    @Test(arguments: StorageDecision.Reason.allCases)
    func `the kept answer is dropped when its origin says something new to everybody`(reason: StorageDecision.Reason) {
        let isSpecial: [StorageDecision.Reason] = [.requestForbids, .credentials, .interim, .partial, .notModified]
        #expect(reason.outdatesKept == !isSpecial.contains(reason))
    }

    @Test(arguments: [
        (["Authorization: a"], "https://example.org/", true), (["Cookie: a"], "https://example.org/", true),
        (["X-Auth-Token: a"], "https://example.org/", true), (["Accept: a"], "https://example.org/", false),
        ([], "https://me@example.org/", true), ([], "https://example.org/@me", false),
    ])
    func `credentials are known in headers and in the URL`(headers: [String], url: String, hasCredentials: Bool) {
        #expect(RequestFacts(url: url, headers: HTTPLines.fields(headers)).hasCredentials == hasCredentials)
    }
}
