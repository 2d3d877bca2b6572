import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP

/// The requests that go out for a URL and for a `Location`: the URL standard's serialisation, to the host that it names.
@Suite(.timeLimit(.minutes(3))) struct RequestedURLTests {
    /// The targets of all requests for a URL of the origin whose first answer leads to the location. `PORT` in it is the origin's port.
    private func targets(of path: String, location: String? = nil) async throws -> [String] {
        let seen = Mutex<[String]>([])
        let fixture = try EngineFixture { peer in
            let isFirst = seen.withLock { targets in
                targets.append(peer.path)
                return targets.count == 1
            }
            guard let location, isFirst else { return peer.answer() }
            return peer.answer(302, headers: ["Location: \(Self.location(location, at: peer))"])
        }
        let download = try await fixture.get(path)
        let targets = seen.withLock { $0 }
        #expect(download.finalURL == fixture.origin.url(targets.last ?? ""), "another URL is reported than was requested")
        return targets
    }

    private static func location(_ text: String, at peer: Peer) -> String {
        let port = peer.head.split(whereSeparator: \.isNewline).first { $0.hasPrefix("Host") }?.split(separator: ":").last ?? ""
        return text.split(separator: "PORT", omittingEmptySubsequences: false).joined(separator: String(port))
    }

    @Test(
        "The fragment of a URL takes no part in resolving its redirects",
        arguments: [("../up", "/r/3/up"), ("#frag", "/r/3/2/page"), ("?new", "/r/3/2/page?new"), ("b#c/d", "/r/3/2/b")])
    func fragments(location: String, target: String) async throws {
        let targets = try await targets(of: "/r/3/2/page#a/b", location: location)
        #expect(targets == ["/r/3/2/page", target])
    }

    @Test("A blank in the query of a location goes out as %20, not as a plus")
    func blanks() async throws {
        let targets = try await targets(of: "/1", location: "?a b+c")
        #expect(targets == ["/1", "/1?a%20b+c"])
    }

    @Test(
        "Bytes that the standard escapes are escaped in the request, and no others",
        arguments: [
            ("/?\"<é>'^`{|}[]\\", "/?%22%3C%C3%A9%3E%27^`{|}[]\\"),
            ("/\"<é>'^`{|}[]", "/%22%3C%C3%A9%3E'%5E%60%7B|%7D[]"),
            ("/a/%2e%2E/b/.%2e/%2e/c", "/c"),
            ("/%41%2f%zz%?%41%e4", "/%41%2f%zz%?%41%e4"),
            ("/?", "/?"), ("/a?#f", "/a?"), ("//a//?b", "//a//?b"),
        ])
    func escapes(path: String, target: String) async throws {
        let asked = try await targets(of: path)
        #expect(asked == [target])
        let redirected = try await targets(of: "/1", location: "http://127.0.0.1:PORT\(path)")
        #expect(redirected == ["/1", target])
    }

    @Test(
        "A location is resolved as the standard resolves it",
        arguments: [
            ("\\z", "/z"), ("z\\y\\..\\x", "/d/e/z/x"), ("\\\\127.0.0.1:PORT\\z", "/z"), ("http:\\\\127.0.0.1:PORT\\z", "/z"),
            ("http:/127.0.0.1/z", "/127.0.0.1/z"), ("http:z", "/d/e/z"), ("http:?z", "/d/e/f?z"), ("http:", "/d/e/f?x"),
            ("////127.0.0.1:PORT/z", "/z"), ("?", "/d/e/f?"), ("..//g", "/d//g"), ("..", "/d/"), ("%2e%2E/z", "/d/z"), ("./", "/d/e/"),
            ("//127.0.0.1.:PORT/z", "/z"), ("//0x7f.1:PORT/z", "/z"), ("//017700000001:0PORT/z", "/z"), ("//%31%32%37.1:PORT/z", "/z"),
            ("/a\tb", "/ab"), ("/\u{1}\u{7f}", "/%01%7F"), ("@z", "/d/e/@z"), ("//a@b:c@127.0.0.1:PORT/z", "/z"),
            ("//127.0.0.1:PORT\\@127.0.0.2/", "/@127.0.0.2/"), ("/\u{e4}?\u{e4}", "/%C3%A4?%C3%A4"),
        ])
    func locations(location: String, target: String) async throws {
        let targets = try await targets(of: "/d/e/f?x", location: location)
        #expect(targets == ["/d/e/f?x", target])
    }

    @Test(
        "The address guard decides about the address to which a location leads, however it is spelt",
        arguments: [
            "//127.0.0.2.:PORT/", "//2130706434:PORT/", "//0x7f.2:PORT/", "//[::ffff:127.0.0.2]:PORT/", "\\\\127.0.0.2:PORT",
            "//１２７。0.0.2:PORT/", "https:127.0.0.2:PORT",
        ])
    func guarded(location: String) async throws {
        let fixture = try EngineFixture { peer in peer.answer(302, headers: ["Location: \(Self.location(location, at: peer))"]) }
        let kind = try await fixture.failure().kind
        #expect(kind == .refusedAddress)
    }

    @Test("A location may name port 0, where nobody listens")
    func portZero() async throws {
        let fixture = try EngineFixture { $0.answer(302, headers: ["Location: http://127.0.0.1:0/"]) }
        let kind = try await fixture.failure().kind
        #expect(kind == .connect)
    }

    @Test(
        "Joiners out of place and Punycode that means nothing are refused",
        arguments: [
            "pay\u{200d}pal.com", "pay\u{200c}pal.com", "\u{200d}.com", "xn--a", "xn--a.example", "xn--zzzzzzzz", "a.XN--paypal-rf0c.com",
            "xn--ASCII-", "a\u{202e}b.com", "\u{fffd}.com", "يa.com",
        ])
    func badNames(host: String) {
        #expect(throws: RequestRejection.badHost) { try CanonicalURL("http://\(host)/") }
    }

    @Test(
        "International names may have hyphens anywhere",
        arguments: [
            ("aa--bü.com", "xn--aa--b-ova.com"), ("-ü.com", "xn----eha.com"), ("ü-.com", "xn----dha.com"),
            ("-x.bücher.example", "-x.xn--bcher-kva.example"), ("ab--c.ß", "ab--c.xn--zca"), ("☃-.net", "xn----0xp.net"),
            ("r3---sn-apo3qvuoxuxbt-j5pe.ü.com", "r3---sn-apo3qvuoxuxbt-j5pe.xn--tda.com"), ("क्\u{200d}ष.com", "xn--11b2ezcw70k.com"),
        ])
    func hyphens(host: String, ascii: String) throws {
        #expect(try CanonicalURL("http://\(host)/").host == ascii)
    }

    @Test(
        "Two URLs that the standard writes in two ways have two ids",
        arguments: [
            ("/%41", "/A"), ("/%2f", "/%2F"), ("/?%7e", "/?~"), ("/%2D", "/-"), ("/?a=%3d", "/?a=%3D"), ("/?^", "/?%5E"), ("/%ff", "/%FF"),
        ])
    func ids(one: String, other: String) throws {
        let (one, other) = (try CanonicalURL("http://h\(one)"), try CanonicalURL("http://h\(other)"))
        #expect(one.text != other.text && one.id != other.id)
    }
}
