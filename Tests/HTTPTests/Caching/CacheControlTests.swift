import Testing

@testable import GannetHTTP

@Suite struct CacheControlTests {
    @Test func `without directives nothing is set`() {
        let control = CacheControl(lines: [])
        #expect(control == CacheControl(lines: [""]))
        #expect(control.maxAge == .absent && control.noCache == .absent && control.isPrivate == .absent)
        #expect(!control.forbidsStale && !control.permitsSharingAfterCredentials && !control.isMalformed)
    }

    @Test func `each directive is read into its own field`() {
        let control = CacheControl(lines: [
            "max-age=1, s-maxage=2, stale-while-revalidate=3, stale-if-error=4, min-fresh=5, max-stale=6, no-cache, private=\"a, B\"",
            "public, no-store, must-understand, must-revalidate, proxy-revalidate, immutable, only-if-cached",
        ])
        #expect(control.maxAge == .seconds(1))
        #expect(control.sharedMaxAge == .seconds(2))
        #expect(control.staleWhileRevalidate == .seconds(3))
        #expect(control.staleIfError == .seconds(4))
        #expect(control.minFresh == .seconds(5))
        #expect(control.maxStale == .seconds(6))
        #expect(control.noCache == .everything)
        #expect(control.isPrivate == .fields(["a", "b"]))
        #expect(control.isPublic && control.noStore && control.mustUnderstand && control.mustRevalidate)
        #expect(control.proxyRevalidate && control.isImmutable && control.onlyIfCached && !control.isMalformed)
    }

    @Test func `any staleness is the longest there is`() {
        #expect(CacheControl(lines: ["max-stale"]).maxStale == .seconds(DeltaSeconds.forever))
        #expect(CacheControl(lines: ["max-stale=99999999999999999999"]).maxStale == .seconds(DeltaSeconds.forever))
        #expect(CacheControl(lines: ["max-stale="]).maxStale == .invalid)
    }

    @Test func `names of several lists are one list, and too many are everything`() {
        #expect(CacheControl(lines: ["no-cache=\"a\", no-cache=\"b, a\""]).noCache == .fields(["a", "b"]))
        let many = { (range: ClosedRange<Int>) in "no-cache=\"" + range.map { "x\($0)" }.joined(separator: ",") + "\"" }
        #expect(CacheControl(lines: [many(1...32)]).noCache.names.count == 32)
        #expect(CacheControl(lines: [many(1...33)]).noCache == .everything)
        #expect(CacheControl(lines: [many(1...20), many(21...40)]).noCache == .everything)
    }

    @Test(arguments: ["must-revalidate", "proxy-revalidate", "s-maxage=5", "s-maxage=x", "no-cache"])
    func `it forbids the use of what is stale`(value: String) {
        #expect(CacheControl(lines: [value]).forbidsStale)
    }

    @Test(arguments: ["max-age=5", "no-cache=\"a\"", "private", "no-store", "x-must-revalidate"])
    func `it does not forbid the use of what is stale`(value: String) {
        #expect(!CacheControl(lines: [value]).forbidsStale)
    }

    @Test func `a request's is read from its headers`() {
        let headers = HTTPLines.fields(["Accept: a", "cache-control: max-age=5", "Cache-Control: no-cache"])
        #expect(CacheControl(request: headers).maxAge == .seconds(5))
        #expect(CacheControl(request: headers).noCache == .everything)
    }

    /// A server may send a quarter of a megabyte of it.
    @Test(
        .timeLimit(.minutes(3)),
        arguments: ["\"", "\\\"", "\"\\", "a=\"", "a=\"b\",", ",", "=", "no-cache=\"a,", "max-age=1,", "max-age", "é", "\u{0}"])
    func `the time it takes grows no faster than its length`(part: String) {
        let control = CacheControl(lines: [String(repeating: part, count: 250_000 / part.utf8.count)])
        #expect(control.noCache.names.count <= CacheControl.maximumNames)
    }
}
