import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct ResolverFailureTests {
    @Test(arguments: [
        ("missing.test", ResolveFailure.noSuchName),
        ("empty.test", .noAddress),
        ("broken.test", .serverFailed(.serverFailure)),
        ("refused.test", .serverFailed(.refused)),
        ("unsupported.test", .serverFailed(.notImplemented)),
        ("garbage.test", .serverFailed(.nonsense)),
        ("silent.test", .timedOut),
    ])
    func `each way in which a name has no address is told apart`(name: String, failure: ResolveFailure) async throws {
        let server = try DNSServer { question in
            switch question.name {
            case "missing.test": return .nameError
            case "empty.test": return .noData
            case "broken.test": return .serverFailure
            case "refused.test", "": return .refused
            case "unsupported.test": return DNSReply(code: .notImplemented)
            case "garbage.test":
                // The right question, and an answer whose length leads out of the message.
                let question = [7] + Array("garbage".utf8) + [4] + Array("test".utf8) + [0, 0, 1, 0, 1]
                return .raw([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0] + question + [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0xff, 0xff, 1])
            default: return .silence
            }
        }
        // That the server lives is asked beside the silent name, and has to be answered in the same time.
        try await withGrowingTime(from: .milliseconds(600), upTo: .milliseconds(9600)) { time in
            try ResolverDriver(server) { $0.timeout = time }.resolve(name) == .failure(failure)
        }
    }

    @Test func `a name without an answer is not mistaken for silent servers, even as the only name`() async throws {
        let server = try DNSServer { $0.name.isEmpty ? .serverFailure : .silence }
        try await withGrowingTime(from: .milliseconds(600), upTo: .milliseconds(9600)) { time in
            try ResolverDriver(server) { $0.timeout = time }.resolve("example.test") == .failure(.timedOut)
        }
        #expect(server.queries(for: "", .ns) > 0)
    }

    @Test func `silent servers are not mistaken for a name without an answer`() throws {
        let server = try DNSServer { _ in .silence }
        let driver = try ResolverDriver(server) { $0.timeout = .milliseconds(600) }
        let outcomes = driver.resolve(all: (0..<100).map { "n\($0).test" })
        #expect(outcomes.allSatisfy { $0 == .failure(.noNameServer) })
        #expect(server.queries(for: "", .ns) < 100)
    }

    @Test func `servers that fall silent are blamed for later look-ups`() throws {
        let server = try DNSServer { $0.name == "first.test" ? .addresses("192.0.2.7") : .silence }
        let driver = try ResolverDriver(server) { $0.timeout = .milliseconds(600) }
        #expect(driver.resolve("first.test") == found("192.0.2.7"))
        #expect(driver.resolve("second.test") == .failure(.noNameServer))
    }

    @Test func `a missing server is noticed sooner than a silent one`() async throws {
        let server = try DNSServer { _ in .silence }
        try await server.stop()
        // For a silent one the driver would not wait to the end.
        let driver = try ResolverDriver(server) { $0.timeout = .seconds(300) }
        #expect(driver.resolve("example.test") == .failure(.noNameServer))
    }

    @Test func `a server that is away for a moment fails no look-up`() async throws {
        var isTried = false
        for _ in 0..<10 where !isTried {
            let first = try DNSServer { _ in .silence }
            try await first.stop()
            let driver = try ResolverDriver(first)
            let id = driver.ask("example.test")
            // Until the refusal has arrived, and the query waits to be sent again.
            driver.run { driver.resolver.delayed.first != nil }
            // Another program may have taken the port meanwhile. Then another port is tried.
            guard let second = try? DNSServer(port: first.port, { _ in .addresses("192.0.2.7") }) else { continue }
            isTried = true
            driver.run { driver.outcomes[id] != nil }
            #expect(driver.outcomes[id] == found("192.0.2.7"))
            // A query whose answer is late is repeated, at most in each round.
            #expect(1...5 ~= second.queries)
        }
        #expect(isTried)
    }

    @Test(arguments: [
        ("", "it is empty"), (".", "it is empty"), ("a..b", "two dots follow each other, or it begins with one"),
        (".a", "two dots follow each other, or it begins with one"), ("a b.test", "it has a character that host names do not have"),
        ("a/b.test", "it has a character that host names do not have"), ("bücher.test", "it has a character that host names do not have"),
        ("a\0b.test", "it has a character that host names do not have"), ("1.2.3", "it ends in a number but is no IP address"),
        ("127.0.0.0x1", "it ends in a number but is no IP address"),
        (String(repeating: "a", count: 64) + ".test", "a part between dots has more than 63 characters"),
        (String(repeating: "a.", count: 126) + "bb", "it has more than 253 characters"),
    ])
    func `a host that cannot be looked up is refused at once`(host: String, reason: String) throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7") }
        let driver = try ResolverDriver(server)
        #expect(driver.resolver.resolve(host, for: 1) == .failure(.badName(reason)))
        #expect(server.queries == 0)
    }

    @Test(arguments: [("abcdefgh.onion", ResolveFailure.onion), ("host.invalid", .noSuchName)])
    func `a name that must not be asked for is refused at once`(host: String, failure: ResolveFailure) throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7") }
        let driver = try ResolverDriver(server)
        #expect(driver.resolver.resolve(host, for: 1) == .failure(failure))
        #expect(server.queries == 0)
    }

    @Test(arguments: ["wrong", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536", "1.2.3.4:53x", "[::1", "::1]:53", "[1.2.3.4]:53", "", ":53"])
    func `a name server that is none is refused with a sentence`(text: String) throws {
        var options = ResolverOptions()
        options.servers = [text]
        #expect(throws: InvalidOptions.self) { try Resolver(options) { _, _, _ in } }
    }

    @Test(arguments: [
        ("1.2.3.4", "1.2.3.4:53"), ("1.2.3.4:5353", "1.2.3.4:5353"), ("::1", "[::1]:53"), ("[::1]", "[::1]:53"), ("[::1]:54", "[::1]:54"),
    ])
    func `a name server has an address and a port`(text: String, whole: String) {
        #expect(NameServer(text)?.text == whole)
    }
}
