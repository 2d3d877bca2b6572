import GannetHTTP
import Testing

@testable import Server

@Suite struct AccessTests {
    private static let secret = "0123456789abcdef-right"
    private static let harmless = Endpoint(method: "GET", path: "/", summary: "", hasEffects: false) { _ in .now(HTTPServiceAnswer()) }
    private static let effective = Endpoint(method: "GET", path: "/", summary: "") { _ in .now(HTTPServiceAnswer()) }

    private func status(_ rules: AccessRules, of endpoint: Endpoint = harmless, _ headers: [(String, String)]) -> Int? {
        let request = HTTPServiceRequest(method: "GET", target: "/", headers: headers.map { (name: $0.0, value: $0.1) })
        do throws(Problem) {
            _ = try rules.check(request, endpoint)
            return nil
        } catch {
            return error.status
        }
    }

    @Test(arguments: ["localhost", "LOCALHOST:9480", "127.0.0.1", "127.0.0.1:9480", "[::1]:9480", "[::1]"])
    func `a server without tokens answers for this machine`(host: String) { #expect(status(AccessRules(), [("Host", host)]) == nil) }

    @Test(arguments: [
        "evil.example", "evil.example:9480", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::2]", "0.0.0.0", "169.254.1.1",
        "127.0.0.1:1@evil.example", "[::1]evil.example", "localhost:80x",
    ])
    func `a name that an attacker points at this machine is refused`(host: String) {
        #expect(status(AccessRules(), [("Host", host)]) == 421)
    }

    @Test(arguments: [
        ("Origin", "http://evil.example"), ("Origin", "null"), ("Origin", "https://localhost:1"), ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"), ("sec-fetch-site", "anything"),
    ])
    func `a page of another site is refused, also with a token`(header: (String, String)) throws {
        var rules = AccessRules()
        #expect(status(rules, [("Host", "localhost:9480"), header]) == 403)
        rules.tokens = [try Token(Self.secret, name: "a")]
        #expect(status(rules, [("Host", "localhost:9480"), header, ("Authorization", "Bearer \(Self.secret)")]) == 403)
    }

    @Test(arguments: [("gateway.example:9480", 403), ("localhost:9480", nil)])
    func `a browser that names no page has no effects under a name that it does not trust`(host: String, refused: Int?) throws {
        var rules = AccessRules()
        rules.hosts.insert("gateway.example")
        let browser = [("Host", host), ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64)")]
        #expect(status(rules, of: Self.effective, browser) == refused)
        #expect(status(rules, of: Self.harmless, browser) == nil)
        for said in [("Origin", "http://\(host)"), ("Sec-Fetch-Site", "none")] {
            #expect(status(rules, of: Self.effective, browser + [said]) == nil)
        }
        #expect(status(rules, of: Self.effective, [("Host", host), ("User-Agent", "curl/8")]) == nil)
        rules.tokens = [try Token(Self.secret, name: "a")]
        #expect(status(rules, of: Self.effective, browser + [("Authorization", "Bearer \(Self.secret)")]) == nil)
    }

    @Test func `a page of this server and an address that a person typed are answered`() {
        #expect(
            status(AccessRules(), [("Host", "localhost:9480"), ("Origin", "http://localhost:9480"), ("Sec-Fetch-Site", "same-origin")])
                == nil)
        #expect(status(AccessRules(), [("Host", "localhost:9480"), ("Sec-Fetch-Site", "none")]) == nil)
    }

    @Test(arguments: [
        nil, "Bearer", "Bearer ", "Bearer wrong", "Basic 0123456789abcdef-right", "Bearer 0123456789abcdef-righ",
        "Bearer 0123456789abcdef-right x",
    ])
    func `a wrong token is no token`(value: String?) throws {
        var rules = AccessRules()
        rules.tokens = [try Token("another-token-of-theirs", name: "b"), try Token(Self.secret, name: "a")]
        #expect(status(rules, [("Host", "any.example")] + (value.map { [("Authorization", $0)] } ?? [])) == 401)
    }

    @Test func `none of ten thousand wrong tokens is taken for a right one`() throws {
        let tokens = [try Token("another-token-of-theirs", name: "b"), try Token(Self.secret, name: "a")]
        for number in 0..<10_000 { #expect(Token.find("0123456789abcdef-\(number)", in: tokens) == nil) }
    }

    @Test func `the right token is answered, and is known by its place`() throws {
        var rules = AccessRules()
        rules.tokens = [try Token("another-token-of-theirs", name: "b"), try Token(Self.secret, name: "a")]
        let headers = [(name: "Host", value: "any.example"), (name: "authorization", value: "bearer \(Self.secret)")]
        #expect(try rules.check(HTTPServiceRequest(method: "GET", target: "/", headers: headers), Self.harmless) == 1)
        let twice = headers + [(name: "Authorization", value: "Bearer \(Self.secret)")]
        #expect(throws: Problem.self) { try rules.check(HTTPServiceRequest(method: "GET", target: "/", headers: twice), Self.harmless) }
    }

    @Test func `a server for reading alone refuses everything that has effects`() {
        var rules = AccessRules()
        rules.isReadOnly = true
        #expect(status(rules, of: Self.effective, [("Host", "localhost")]) == 403)
        #expect(status(rules, of: Self.harmless, [("Host", "localhost")]) == nil)
    }

    @Test func `a file of tokens is read with names and limits`() throws {
        let tokens = try Token.list("# ours\n\n\(Self.secret) name=web at-once=3 per-second=5\r\nanother-token-of-theirs\n")
        #expect(tokens.map(\.name) == ["web", "line 4"])
        #expect(tokens.map(\.atOnce) == [3, Token.usualAtOnce])
        #expect(tokens.map(\.perSecond) == [5, nil])
    }

    @Test(arguments: [
        "", "# nothing", "short", "0123456789abcdef at-once=0", "0123456789abcdef what=1", "0123456789abcdef 5",
        "0123456789abcdef\n0123456789abcdef",
    ])
    func `a file of tokens that cannot be meant is refused, and no secret is told`(text: String) {
        let failure = #expect(throws: InvalidOptions.self) { try Token.list(text) }
        #expect(failure?.description.contains("0123456789abcdef") == false)
    }

    @Test func `a token has its requests at once and a second, and gets them back`() throws {
        let token = try Token(Self.secret, name: "a", atOnce: 2, perSecond: 4)
        var use = TokenUse(token)
        let start = ContinuousClock.now
        #expect(use.begin(token, at: start) == .goes)
        #expect(use.begin(token, at: start) == .goes)
        #expect(use.begin(token, at: start) == .tooManyAtOnce)
        use.end()
        #expect(use.begin(token, at: start) == .goes)
        use.end()
        use.end()
        #expect(use.begin(token, at: start) == .goes)
        use.end()
        #expect(use.begin(token, at: start) == .tooMany(next: .milliseconds(250)))
        #expect(use.begin(token, at: start + .milliseconds(250)) == .goes)
        use.end()
        // An hour's rest is no reason for an hour's requests at once.
        let later = start + .seconds(3600)
        for _ in 0..<4 {
            #expect(use.begin(token, at: later) == .goes)
            use.end()
        }
        #expect(use.begin(token, at: later) == .tooMany(next: .milliseconds(250)))
    }
}
