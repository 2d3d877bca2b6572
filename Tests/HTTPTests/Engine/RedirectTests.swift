import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct RedirectTests {
    /// Two origins. The first redirects to the second.
    private func leading(to location: @escaping @Sendable (UInt16) -> String) throws -> (EngineFixture, ScriptedOrigin) {
        let second = ScriptedOrigin { $0.answer(body: Array($0.head.lowercased().utf8)) }
        let port = second.port
        return (try EngineFixture { $0.answer(302, headers: ["Location: \(location(port))"]) }, second)
    }

    private static let secrets = [
        "Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "X-Amz-Security-Token", "X-CSRF", "X-Sid", "X-Pin", "X_Sas", "X-Sig",
        "X-Pwd", "Otp",
        "X-Hmac", "X-Pass",
    ]

    @Test("Credentials go to no other origin, by header or by URL; other headers do")
    func credentials() async throws {
        let (fixture, second) = try leading { "http://127.0.0.1:\($0)/there" }
        let headers = try (Self.secrets + ["X-Plain", "X-Inside-Pinned"]).map { try #require(HeaderField(name: $0, value: "s3cret")) }
        let url = fixture.origin.url("/", credentials: "me:pw@")
        let download = try await fixture.engine.download(
            DownloadRequest(url: url, body: .memory(upTo: 10_000, thenFileIn: "/"), headers: headers))
        let head = String(decoding: try fixture.contents(download), as: UTF8.self)
        for name in Self.secrets { #expect(!head.contains("\r\n\(name.lowercased()):"), "\(name)") }
        #expect(head.contains("\r\nx-plain: s3cret\r\n") && head.contains("\r\nx-inside-pinned: s3cret\r\n"))
        #expect(download.finalURL == second.url("/there"))
        #expect(download.hops.map(\.url) == [fixture.origin.url("/")])
    }

    @Test("Credentials go along to the same origin")
    func sameOrigin() async throws {
        let fixture = try EngineFixture { peer in
            if peer.path == "/a/1" { return peer.answer(301, headers: ["Location: ../2"]) }
            return peer.answer(body: Array(peer.head.lowercased().utf8))
        }
        let header = try #require(HeaderField(name: "X-Api-Key", value: "s3cret"))
        let url = fixture.origin.url("/a/1", credentials: "me:pw@")
        let download = try await fixture.engine.download(
            DownloadRequest(url: url, body: .memory(upTo: 10_000, thenFileIn: "/"), headers: [header]))
        let head = String(decoding: try fixture.contents(download), as: UTF8.self)
        #expect(head.contains("\r\nx-api-key: s3cret\r\n") && head.contains("\r\nauthorization: basic bwu6chc=\r\n"))
        #expect(download.finalURL == fixture.origin.url("/2"))
    }

    @Test("A trace goes along to the same origin, and to no other")
    func traces() async throws {
        let second = ScriptedOrigin { $0.answer(body: Array($0.head.lowercased().utf8)) }
        let port = second.port
        let fixture = try EngineFixture { peer in
            switch peer.path {
            case "/on": peer.answer(302, headers: ["Location: /here"])
            case "/away": peer.answer(302, headers: ["Location: http://127.0.0.1:\(port)/there"])
            default: peer.answer(body: Array(peer.head.lowercased().utf8))
            }
        }
        let headers = try ["TraceParent", "tracestate", "X-Trace"].map { try #require(HeaderField(name: $0, value: "v")) }
        for (path, isTold) in [("/on", true), ("/away", false)] {
            let download = try await fixture.engine.download(
                DownloadRequest(url: fixture.origin.url(path), body: .memory(upTo: 10_000, thenFileIn: "/"), headers: headers))
            let head = String(decoding: try fixture.contents(download), as: UTF8.self)
            for name in ["traceparent", "tracestate"] { #expect(head.contains("\r\n\(name): v\r\n") == isTold, "\(name) at \(path)") }
            #expect(head.contains("\r\nx-trace: v\r\n"))
        }
    }

    @Test("A redirect does not choose credentials for a third party")
    func strangersCredentials() async throws {
        let (fixture, second) = try leading { "http://you:theirs@127.0.0.1:\($0)/" }
        let download = try await fixture.get()
        #expect(!String(decoding: try fixture.contents(download), as: UTF8.self).contains("authorization"))
        #expect(download.finalURL == second.url("/"))
    }

    @Test(
        "A location is read as browsers read it",
        arguments: [
            ("/b c", "/b%20c"), ("?q=1", "/1?q=1"), ("//127.0.0.1:PORT/x", "/x"), ("b/../c#f", "/c"), ("/\u{e4}", "/%C3%A4"),
            ("HTTP://127.0.0.1:PORT/U", "/U"),
        ])
    func locations(location: String, path: String) async throws {
        let fixture = try EngineFixture { peer in
            guard peer.path == "/1" else { return peer.answer() }
            let port = peer.head.split(whereSeparator: \.isNewline).first { $0.hasPrefix("Host") }?.split(separator: ":").last ?? ""
            return peer.answer(302, headers: ["Location: \(location.split(separator: "PORT").joined(separator: String(port)))"])
        }
        let finalURL = try await fixture.get("/1").finalURL
        #expect(finalURL == fixture.origin.url(path))
    }

    @Test(
        "A redirect without a target is its status or a broken rule, never a success",
        arguments: [
            ("", .status(302)), ("Location: ", .status(302)), ("Location: /a\r\nLocation: /b", .protocolError),
            ("Location: http://", .refusedRedirect), ("Location: gopher://127.0.0.1/", .refusedRedirect),
            ("Location: http://a!b/", .refusedRedirect),
            ("Location: /" + String(repeating: "a", count: 9000), .refusedRedirect),
        ] as [(String, FetchError.Kind)])
    func nowhere(header: String, kind: FetchError.Kind) async throws {
        let fixture = try EngineFixture { $0.answer(302, headers: header.isEmpty ? [] : [header]) }
        #expect(try await fixture.failure().kind == kind)
    }

    @Test(
        "The error of a redirect without a target says that it is one, and why",
        arguments: [
            ("X: y", "The server answered 302 (@): it named no place to go on to."),
            ("Location: ", "The server answered 302 (@): it named no place to go on to."),
            (
                "Location: http://a b/",
                "Redirected to a URL that cannot be fetched (@): it led to 'http://a b/': its host is not a valid name or address."
            ),
            (
                "Location: mailto:me",
                "Redirected to a URL that cannot be fetched (@): it led to 'mailto:me': only http and https are fetched, not 'mailto'."
            ),
            ("Location: /", "Redirected too often (@): more than 1 time; the last led from @."),
        ])
    func sentences(header: String, sentence: String) async throws {
        let fixture = try EngineFixture {
            $0.maximumRedirects = 1
        } script: {
            $0.answer(302, headers: [header])
        }
        let url = fixture.origin.url("/")
        #expect(try await fixture.failure().description == sentence.split(separator: "@").joined(separator: url))
    }

    @Test("A circle of redirects is gone through twice at most", arguments: [["/"], ["/", "/a"], ["/", "/a", "/b"]])
    func circle(paths: [String]) async throws {
        let asked = Mutex<[String]>([])
        let fixture = try EngineFixture { peer in
            asked.withLock { $0.append(peer.path) }
            let next = (paths.firstIndex(of: peer.path) ?? 0) + 1
            return peer.answer(302, headers: ["Location: \(paths[next % paths.count])"])
        }
        let error = try await fixture.failure()
        let (last, first) = (fixture.origin.url(paths[paths.count - 1]), fixture.origin.url("/"))
        #expect(error.kind == .tooManyRedirects && error.detail == "in a circle, from \(last) to \(first)")
        #expect(asked.withLock { $0 } == paths + paths)
    }

    @Test("A URL may be asked a second time after a redirect")
    func again() async throws {
        let count = Mutex(0)
        let fixture = try EngineFixture { peer in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? peer.answer(302, headers: ["Location: /"]) : peer.answer()
        }
        let request = DownloadRequest(url: fixture.origin.url("/"), body: .memory(upTo: 10_000, thenFileIn: "/"))
        #expect(try await fixture.engine.download(request).hops.count == 1)
    }

    @Test("Where no redirects are permitted, a redirect is its status")
    func none() async throws {
        let fixture = try EngineFixture {
            $0.maximumRedirects = 0
        } script: {
            $0.answer(302, headers: ["Location: /2"])
        }
        let error = try await fixture.failure()
        #expect(error.kind == .status(302) && error.detail == "")
    }

    @Test("The time for the whole covers all hops")
    func time() async throws {
        // Ten hops take some milliseconds. The time for an answer would be longer than this test may last.
        try await withGrowingTime(from: .milliseconds(500), upTo: .seconds(32)) { timeout in
            let paths = Mutex<[String]>([])
            let fixture = try EngineFixture {
                $0.timeout = timeout
                $0.answerTimeout = .seconds(300)
                $0.maximumRedirects = 100
            } script: { peer in
                paths.withLock { $0.append(peer.path) }
                if peer.path == "/10" { return peer.waitForClose() }
                return peer.answer(302, headers: ["Location: /\((Int(peer.path.dropFirst()) ?? 0) + 1)"])
            }
            let kind = try await fixture.failure().kind
            let asked = paths.withLock { $0 }
            guard asked.last == "/10" else { return false }
            #expect(kind == .timeout(.response))
            #expect(asked == (0...10).map { $0 == 0 ? "/" : "/\($0)" })
            return true
        }
    }

    @Test("An endless page of a redirect does not hold it up")
    func endlessPage() async throws {
        let fixture = try EngineFixture { peer in
            guard peer.path == "/1" else { return peer.answer(body: [1]) }
            peer.send("HTTP/1.1 302 X\r\nLocation: /2\r\n\r\n")
            while peer.send([UInt8](repeating: 0x61, count: 16_384)) {}
            return false
        }
        #expect(try await fixture.get("/1").byteCount == 1)
    }

    @Test("From http to https of the same host credentials may go, and nowhere else")
    func trust() throws {
        let target = try CanonicalURL("http://h/")
        for (url, isTrusted) in [
            ("https://h/", true), ("http://h:80/x", true), ("https://h:444/", false), ("http://h:81/", false), ("http://www.h/", false),
            ("http://H/", true),
        ] {
            #expect(target.trusts(try CanonicalURL(url)) == isTrusted, "\(url)")
        }
        #expect(!(try CanonicalURL("https://h/").trusts(target)))
    }
}
