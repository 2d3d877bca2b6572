import Testing

@testable import GannetHTTP

@Suite struct FreshnessTests {
    private func freshness(
        _ lines: [String], policy: FreshnessPolicy = FreshnessPolicy(), took: Duration = .zero, at moment: Moment = .came
    ) -> Freshness {
        Freshness(of: Kept.exchange(lines, at: moment, took: took), policy: policy)
    }

    @Test func `every moment of it is told`() {
        let freshness = freshness(
            ["Cache-Control: max-age=60, stale-while-revalidate=10, stale-if-error=20, immutable", "Age: 5"], took: .seconds(2))
        #expect(
            freshness
                == Freshness(
                    generatedAt: .came - .seconds(7), freshUntil: .came + .seconds(53), staleWhileRevalidateUntil: .came + .seconds(63),
                    staleIfErrorUntil: .came + .seconds(73), mustRevalidate: false, isImmutable: true, source: .maxAge))
        #expect(freshness.age(at: .came) == .seconds(7))
        #expect(freshness.age(at: .came - .seconds(100)) == .zero)
        #expect(freshness.isFresh(at: .came + .milliseconds(52_999)))
        #expect(!freshness.isFresh(at: .came + .seconds(53)))
    }

    @Test(
        arguments: [
            ("s-maxage=1, max-age=2", .sharedMaxAge), ("max-age=2", .maxAge), ("max-age=x", .invalid), ("public", .unknown),
            ("a=\"", .invalid),
        ] as [(String, Freshness.Source)])
    func `it knows where its lifetime comes from`(value: String, source: Freshness.Source) {
        #expect(freshness(["Cache-Control: \(value)"]).source == source)
    }

    @Test func `dates are sources, too`() {
        #expect(freshness(["Expires: {60}"]).source == .expires)
        #expect(freshness(["Expires: 0"]).source == .invalid)
        #expect(freshness(["Last-Modified: {-60}"]).source == .heuristic)
        #expect(freshness(["Last-Modified: {60}"]).source == .unknown)
    }

    @Test func `no lifetime is guessed for a status that forbids it`() {
        let modified = ["Last-Modified: {-864000}"]
        #expect(Freshness(of: Kept.exchange(modified, status: 403), policy: FreshnessPolicy()).source == .unknown)
        #expect(Freshness(of: Kept.exchange(modified, status: 404), policy: FreshnessPolicy()).source == .heuristic)
    }

    @Test(arguments: ["must-revalidate", "proxy-revalidate", "s-maxage=60"])
    func `an answer that must not be used stale has one end`(directive: String) {
        var policy = FreshnessPolicy()
        policy.staleIfError = .seconds(9)
        let freshness = freshness(["Cache-Control: max-age=60, stale-while-revalidate=9, stale-if-error=9, \(directive)"], policy: policy)
        #expect(freshness.mustRevalidate)
        #expect(freshness.freshUntil == .came + .seconds(60))
        #expect(freshness.staleWhileRevalidateUntil == freshness.freshUntil)
        #expect(freshness.staleIfErrorUntil == freshness.freshUntil)
    }

    @Test func `the fraction of a second that a date cannot tell is no age`() {
        let freshness = freshness(["Cache-Control: max-age=60", "Date: {0}"], at: .came + .milliseconds(1999))
        #expect(freshness.generatedAt == .came + .milliseconds(999))
    }

    @Test(arguments: ["http://example.org/a", "https://example.org/a"])
    func `immutable counts only where nobody on the way could have added it`(url: String) {
        let request = RequestFacts(url: url)
        let isSecure = url.hasPrefix("https")
        var exchange = Kept.exchange(["Cache-Control: max-age=60, immutable=no"], request: request)
        #expect(Freshness(of: exchange, policy: FreshnessPolicy()).isImmutable == isSecure)
        exchange.redirects = [.init(url: "http://example.org/", status: 301, headers: HTTPLines.headers(["Cache-Control: immutable"]))]
        #expect(!Freshness(of: exchange, policy: FreshnessPolicy()).isImmutable)
        exchange.redirects = [
            .init(url: "https://example.org/", status: 301, headers: HTTPLines.headers(["Cache-Control: max-age=60, immutable"]))
        ]
        #expect(Freshness(of: exchange, policy: FreshnessPolicy()).isImmutable == isSecure)
        exchange.redirects = [.init(url: "https://example.org/", status: 301)]
        #expect(!Freshness(of: exchange, policy: FreshnessPolicy()).isImmutable)
    }

    /// Whatever clocks and origins say.
    @Test(arguments: [Moment.distantPast, .distantFuture, Moment(millisecondsSince1970: 0)])
    func `no moment and no number traps, and the order of its ends holds`(moment: Moment) {
        let huge = ["0", "1", "2147483648", "99999999999999999999", "-1"]
        for (age, life) in huge.flatMap({ age in huge.map { (age, $0) } }) {
            let lines = [
                "Cache-Control: max-age=\(life), stale-while-revalidate=\(age), stale-if-error=\(life)", "Age: \(age)", "Date: {0}",
                "Last-Modified: Sat, 01 Jan 0000 00:00:00 GMT", "Expires: Fri, 31 Dec 9999 23:59:59 GMT",
            ]
            for took in [Duration.zero, .milliseconds(Int64.max), .milliseconds(Int64.min)] {
                for lines in [lines, Array(lines.dropFirst()), Array(lines.dropFirst(2).dropLast())] {
                    let freshness = freshness(lines, took: took, at: moment)
                    #expect(freshness.freshUntil <= freshness.staleWhileRevalidateUntil)
                    #expect(freshness.freshUntil <= freshness.staleIfErrorUntil)
                    #expect(freshness.generatedAt <= moment)
                    #expect(freshness.age(at: .distantFuture) >= .zero)
                }
            }
        }
    }

    @Test func `a download is an exchange`() {
        let hop = Download.Hop(url: "https://example.org/", status: 301)
        var download = Download(finalURL: "https://example.org/b", headers: HTTPLines.headers(["Age: 1"]))
        download.hops = [hop]
        let exchange = Exchange(download, request: Kept.request, requestedAt: .came - .seconds(1), receivedAt: .came)
        #expect(exchange.finalURL == "https://example.org/b" && exchange.status == 200 && exchange.headers["age"] == "1")
        #expect(exchange.redirects == [hop] && exchange.requestedAt == .came - .seconds(1) && exchange.receivedAt == .came)
        #expect(exchange.isAuthenticated)
    }
}
