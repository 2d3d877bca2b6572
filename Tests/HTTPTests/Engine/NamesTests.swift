import GannetTestKit
import Testing

@testable import GannetHTTP

/// Transfers to named hosts, which the test's own name server knows.
@Suite(.timeLimit(.minutes(3))) struct NamesTests {
    private func fixture(
        _ dns: DNSServer, _ change: (inout FetchSettings) -> Void = { _ in },
        script: @escaping @Sendable (Peer) -> Bool = { $0.answer(body: Array("hello".utf8)) }
    ) throws -> EngineFixture {
        try EngineFixture(
            options: {
                $0.resolver.servers = [dns.address]
                $0.resolver.ipv6 = .never
                change(&$0)
            }, script: script)
    }

    /// Into memory, so that nothing is in the folder.
    @discardableResult
    private func fetch(_ url: String, _ fixture: EngineFixture) async throws -> Download {
        try await fixture.engine.download(DownloadRequest(url: url, body: .memory(upTo: 100, thenFileIn: fixture.folder.path)))
    }

    @Test("A name is looked up once, however many of its URLs are fetched at a time")
    func once() async throws {
        let dns = try DNSServer { _ in .addresses("127.0.0.1") }
        let fixture = try fixture(dns)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { _ = try await fetch("http://Some.Example:\(fixture.origin.port)/\(number)", fixture) }
            }
            try await group.waitForAll()
        }
        #expect(dns.queries(for: "some.example") == 1)
        try await dns.stop()
    }

    @Test("A name that turns private between two look-ups is refused when it is connected to")
    func rebinding() async throws {
        let dns = try DNSServer { question in
            question.name == "turning.example" && question.previous > 0 ? .addresses("10.0.0.1") : .addresses("127.0.0.1")
        }
        let fixture = try fixture(
            dns, { $0.resolver.maximumCached = 1 },
            script: { peer in
                peer.answer()
                return false
            })
        let url = "http://turning.example:\(fixture.origin.port)/"
        _ = try await fetch(url, fixture)
        _ = try await fetch("http://other.example:\(fixture.origin.port)/", fixture)
        let error = try await fixture.failure(url: url)
        #expect(error.kind == .refusedAddress)
        #expect(error.detail.hasPrefix("10.0.0.1 is a private address"))
        try await dns.stop()
    }

    @Test("Of several addresses those that are permitted are tried")
    func mixed() async throws {
        let dns = try DNSServer { _ in .addresses("10.0.0.1", "169.254.169.254", "127.0.0.1") }
        // libcurl would wait for half of this time behind each address that is refused.
        let fixture = try fixture(dns) { $0.connectTimeout = .seconds(600) }
        #expect(try await fetch("http://mixed.example:\(fixture.origin.port)/", fixture).byteCount == 5)
        try await dns.stop()
    }

    @Test("Where no address is permitted, the first is the reason, and none is waited for")
    func allRefused() async throws {
        let dns = try DNSServer { _ in .addresses("10.0.0.1", "169.254.169.254") }
        let fixture = try fixture(dns) { $0.connectTimeout = .seconds(600) }
        let error = try await fixture.failure(url: "http://refused.example/")
        #expect(error.kind == .refusedAddress)
        #expect(error.detail.hasPrefix("10.0.0.1 is a private address"))
        try await dns.stop()
    }

    @Test(
        "Each reason for a name without an address is an error of its own",
        arguments: [
            ("unknown", .dns(.noSuchName)), ("empty", .dns(.noAddress)), ("failing", .dns(.serverFailed)), ("silent", .timeout(.resolve)),
        ] as [(String, FetchError.Kind)])
    func failures(name: String, kind: FetchError.Kind) async throws {
        let dns = try DNSServer { question in
            switch question.name.prefix(while: { $0 != "." }) {
            case "unknown": .nameError
            case "empty": .noData
            case "failing": .serverFailure
            case "silent": .silence
            default: .addresses("127.0.0.1")
            }
        }
        // Other names have this long for their answers, too.
        let fixture = try fixture(dns) { $0.resolver.timeout = name == "silent" ? .milliseconds(1500) : .seconds(60) }
        let error = try await withThrowingTaskGroup(of: FetchError?.self) { group in
            group.addTask { try await fixture.failure(url: "http://\(name).example/") }
            // The name server is alive all the while: it answers for one name after the other.
            group.addTask {
                var number = 0
                while !Task.isCancelled {
                    _ = try? await fetch("http://good\(number).example:\(fixture.origin.port)/", fixture)
                    number += 1
                    try await Task.sleep(for: .milliseconds(10))
                }
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        #expect(error?.kind == kind)
        #expect(dns.queries(for: "\(name).example") > 0)
        try await dns.stop()
    }

    @Test("A redirect to a name that does not exist fails alike")
    func redirected() async throws {
        let dns = try DNSServer { $0.name == "first.example" ? .addresses("127.0.0.1") : .nameError }
        let fixture = try fixture(dns, script: { $0.answer(302, headers: ["Location: http://unknown.example/"]) })
        #expect(try await fixture.failure(url: "http://first.example:\(fixture.origin.port)/").kind == .dns(.noSuchName))
        try await dns.stop()
    }

    @Test("A missing name server is the network's failure")
    func deadResolver() async throws {
        let dns = try DNSServer { _ in .silence }
        let fixture = try fixture(dns) { $0.resolver.timeout = .milliseconds(500) }
        let silent = try await fixture.failure(url: "http://a.example/")
        #expect(silent.kind == .dns(.nobodyAnswers))
        #expect(silent.retry == .withoutNetwork)
        try await dns.stop()
        #expect(try await fixture.failure(url: "http://b.example/").kind == .dns(.nobodyAnswers))
    }

    @Test("A transfer is cancelled while its host is looked up")
    func cancelled() async throws {
        let dns = try DNSServer { _ in .silence }
        let fixture = try fixture(dns)
        let task = Task { try await fetch("http://a.example/", fixture) }
        try await dns.received(1)
        task.cancel()
        let error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        try await dns.stop()
    }

    @Test("The time for the whole counts while a host is looked up")
    func wholeTime() async throws {
        let dns = try DNSServer { _ in .silence }
        // The look-up alone would last longer than this test may.
        let fixture = try fixture(dns) {
            $0.timeout = .milliseconds(300)
            $0.resolver.timeout = .seconds(300)
        }
        #expect(try await fixture.failure(url: "http://a.example/").kind == .timeout(.resolve))
        try await dns.stop()
    }

    @Test("A URL whose host cannot be a name is refused", arguments: ["a..b", String(repeating: "a", count: 64) + ".example", "1.2.3.4.5"])
    func badName(host: String) async throws {
        let fixture = try EngineFixture()
        #expect(try await fixture.failure(url: "http://\(host)/").kind == .invalidURL)
    }
}
