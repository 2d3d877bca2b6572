import Testing

@testable import Server

/// A browser that has signed in, without a server.
@Suite struct SessionTests {
    private static let effective = Endpoint(method: "POST", path: "/", summary: "") { _ in .now(HTTPServiceAnswer()) }
    private static let harmless = Endpoint(method: "GET", path: "/", summary: "", hasEffects: false) { _ in .now(HTTPServiceAnswer()) }
    private static let now = Int64(1_800_000_000)

    private func token(_ text: String = "a", _ name: String = "a") throws -> Token {
        try Token(String(repeating: text, count: 32), name: name)
    }

    private func cookie(_ header: String) -> String { String(header.prefix { $0 != ";" }) }

    private func holder(_ cookie: String, _ tokens: [Token], now: Int64 = now, isSecure: Bool = false) -> Int? {
        let request = HTTPServiceRequest(method: "GET", target: "/", headers: [(name: "Cookie", value: cookie)])
        return SessionCookie(isSecure: isSecure).holder(request, in: tokens, now: now)
    }

    @Test func `a cookie stands for its own token, until its end`() throws {
        let tokens = [try token("a"), try token("b")]
        let header = SessionCookie(isSecure: false).header(for: tokens[1], now: Self.now)
        #expect(header.contains("; HttpOnly") && header.contains("; SameSite=Strict") && !header.contains("Secure"))
        let cookie = cookie(header)
        #expect(holder(cookie, tokens) == 1)
        #expect(holder("other=1; \(cookie); third=2", tokens) == 1)
        // Each further one would cost a seal for each token.
        #expect(holder("gannet-session=1.a; \(cookie)", tokens) == nil)
        let end = Self.now + Int64(SessionCookie.days * 86_400)
        #expect(holder(cookie, tokens, now: end - 1) == 1 && holder(cookie, tokens, now: end) == nil)
        // Another gateway has the same tokens in another order; a token that was taken away ends its sessions.
        #expect(holder(cookie, tokens.reversed()) == 0 && holder(cookie, [tokens[0]]) == nil)
    }

    @Test func `over TLS the cookie is for TLS alone`() throws {
        let tokens = [try token()]
        let header = SessionCookie(isSecure: true).header(for: tokens[0], now: Self.now)
        #expect(header.hasPrefix("__Host-") && header.contains("; Secure") && header.contains("; Path=/;"))
        #expect(holder(cookie(header), tokens, isSecure: true) == 0 && holder(cookie(header), tokens) == nil)
    }

    @Test func `no change of a cookie is taken`() throws {
        let tokens = [try token()]
        let cookie = cookie(SessionCookie(isSecure: false).header(for: tokens[0], now: Self.now))
        let bytes = Array(cookie.utf8)
        let name = "gannet-session=".utf8.count
        for index in bytes.indices.dropFirst(name) {
            for change in [UInt8(ascii: "0"), UInt8(ascii: "f"), UInt8(ascii: "."), UInt8(ascii: "-")] where bytes[index] != change {
                var changed = bytes
                changed[index] = change
                #expect(holder(String(decoding: changed, as: UTF8.self), tokens) == nil)
            }
        }
        for text in ["", "gannet-session=", "gannet-session=.", "gannet-session=99999999999999999999.0", "gannet-session"] {
            #expect(holder(text, tokens) == nil)
        }
    }

    /// An image of another port of this host is sent with the cookie, and without a word about its page.
    @Test func `a cookie alone has no effects where the browser does not name the page`() throws {
        var rules = AccessRules()
        rules.tokens = [try token()]
        let cookie = cookie(rules.cookies.header(for: rules.tokens[0], now: 32_000_000_000))
        func status(_ endpoint: Endpoint, _ headers: [(String, String)]) -> Int? {
            let all = [("Host", "gateway.example"), ("Cookie", cookie)] + headers
            let request = HTTPServiceRequest(method: "GET", target: "/", headers: all.map { (name: $0.0, value: $0.1) })
            do throws(Problem) { return try rules.check(request, endpoint) } catch { return error.status }
        }
        #expect(status(Self.harmless, []) == 0 && status(Self.effective, []) == 403)
        #expect(status(Self.effective, [("Origin", "http://gateway.example")]) == 0)
        #expect(status(Self.effective, [("Sec-Fetch-Site", "same-origin")]) == 0)
        #expect(status(Self.effective, [("Origin", "http://gateway.example:1")]) == 403)
        // A wrong token is a wrong token, whatever the cookie.
        #expect(status(Self.harmless, [("Authorization", "Bearer wrong")]) == 401)
    }
}
