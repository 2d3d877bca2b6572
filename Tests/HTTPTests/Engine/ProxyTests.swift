import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct ProxyTests {
    @Test("Requests go to the proxy by name, and the proxy decides which addresses may be reached")
    func throughProxy() async throws {
        let proxy = ScriptedOrigin { $0.answer(body: Array($0.head.utf8)) }
        let fixture = try EngineFixture {
            $0.proxy = "http://me:pw@127.0.0.1:\(proxy.port)"
            $0.allowedNetworks = []
        } script: {
            $0.answer()
        }
        let download = try await fixture.get(url: "http://you:s3cret@name.invalid/%2e/x?'#y")
        let head = String(decoding: try fixture.contents(download), as: UTF8.self)
        #expect(head.hasPrefix("GET http://name.invalid/x?%27 HTTP/1.1\r\nHost: name.invalid\r\n"))
        #expect(head.contains("\r\nProxy-Authorization: Basic bWU6cHc=\r\n"))
    }

    @Test(
        "When a proxy cannot be reached or found, no URL is to blame",
        arguments: ["http://127.0.0.1:1", "http://nowhere.invalid:1"])
    func useless(address: String) async throws {
        let fixture = try EngineFixture {
            $0.proxy = address
        } script: {
            $0.answer()
        }
        #expect(try await fixture.failure().retry == .withoutNetwork)
    }

    @Test(
        "A proxy that refuses to connect is at fault, and one that does not reach the host is not",
        arguments: [
            (407, FetchError.Kind.proxy), (403, .proxy), (405, .proxy), (302, .connect), (404, .connect), (502, .connect), (504, .connect),
        ])
    func refusing(status: Int, kind: FetchError.Kind) async throws {
        let proxy = ScriptedOrigin { $0.answer(status) }
        let fixture = try EngineFixture {
            $0.proxy = "http://127.0.0.1:\(proxy.port)"
        } script: {
            $0.answer()
        }
        #expect(try await fixture.failure(url: "https://name.invalid/").kind == kind)
    }

    @Test("A proxy that wants a password for a plain request is at fault, and not the URL")
    func wantsPassword() async throws {
        let proxy = ScriptedOrigin { $0.answer(407) }
        let fixture = try EngineFixture {
            $0.proxy = "http://127.0.0.1:\(proxy.port)"
        } script: {
            $0.answer()
        }
        #expect(try await fixture.failure(url: "http://name.invalid/").kind == .proxy)
    }

    @Test("A proxy that cannot be reached is the proxy's fault")
    func unreachable() async throws {
        let unused = ScriptedOrigin { _ in false }.port
        let fixture = try EngineFixture {
            $0.proxy = "http://127.0.0.1:\(unused)"
        } script: {
            $0.answer()
        }
        #expect(try await fixture.failure().kind == .proxy)
    }

    @Test(
        "A text that is no proxy's address is refused without being quoted",
        arguments: [
            "", "proxy", "127.0.0.1:3128", "ftp://h:1", "socks5://h:1", "http://h", "http://h:0", "http://h:99999", "http://me:s3cret@:1",
            "http://me:s3cret@h:1/path", "http://me:s3cret@[h:1",
        ])
    func refused(text: String) {
        let error = #expect(throws: InvalidOptions.self) { try ProxyAddress(text) }
        #expect(error?.description.hasSuffix(".") == true && error?.description.contains("s3cret") == false)
    }

    @Test("An address is printed without its password")
    func printed() throws {
        #expect(try ProxyAddress("http://me:s3cret@h:3128/").description == "http://h:3128")
        #expect(try ProxyAddress("socks5h://[::1]:1080").description == "socks5h://[::1]:1080")
    }
}
