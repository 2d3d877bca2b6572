import Testing

@testable import GannetHTTP

@Suite struct URLComparisonTests {
    @Test(arguments: URLPair.same)
    func `two spellings are one URL`(pair: URLPair) throws {
        let one = try CanonicalURL(pair.one)
        #expect(try one == CanonicalURL(pair.other))
        #expect(try one == CanonicalURL(one.text), "canonical is final")
        #expect(one.text.utf8.allSatisfy { 0x20 < $0 && $0 < 0x7f })
    }

    @Test(arguments: URLPair.different)
    func `two spellings are two URLs`(pair: URLPair) throws {
        let (one, other) = (try CanonicalURL(pair.one), try CanonicalURL(pair.other))
        #expect(one.text != other.text && one.id != other.id)
        for canonical in [one, other] { #expect(try CanonicalURL(canonical.text) == canonical, "canonical is final") }
    }

    @Test(arguments: RefusedURL.all)
    func `a text is no URL to fetch`(refused: RefusedURL) {
        #expect(throws: refused.rejection) { try CanonicalURL(refused.text) }
    }

    @Test(arguments: ["http://u%00@h/", "http://u%0a@h/", "http://u:%0d@h/", "http://:%1f@h/"])
    func `credentials with an escaped control character are refused, as they would be when sent`(url: String) {
        #expect(throws: RequestRejection.controlInCredentials) { try CanonicalURL(url) }
    }

    @Test(arguments: ["http://h/", "http://h/?"])
    func `a canonical form is as long as a URL may be, at most`(start: String) throws {
        // Each letter takes 2 bytes, and its escapes 6.
        let count = (CanonicalURL.maximumLength - start.utf8.count) / 6
        let longest = start + String(repeating: "é", count: count)
        #expect(try CanonicalURL(longest).text.utf8.count == start.utf8.count + 6 * count)
        #expect(throws: RequestRejection.tooLong(bytes: start.utf8.count + 6 * count + 6)) { try CanonicalURL(longest + "é") }
    }

    @Test(.timeLimit(.minutes(3)), arguments: ["0x7f.1", "2130706433", "0177.0.0.1", "127.1", "%31%32%37.1", "１２７.0.0.1", "１２７。１"])
    func `an address in an odd spelling is fetched from where its canonical form says`(host: String) async throws {
        let fixture = try EngineFixture { $0.answer(body: Array("hello".utf8)) }
        let url = "http://\(host):\(fixture.origin.port)/"
        #expect(try CanonicalURL(url).text == fixture.origin.url("/"))
        #expect(try fixture.contents(try await fixture.get(url: url)) == Array("hello".utf8))
    }
}
