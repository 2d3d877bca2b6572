import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct ResolverTests {
    @Test func `a name has the addresses that the name server gives, in its order`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7", "192.0.2.3") }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("example.test") == found("192.0.2.7", "192.0.2.3"))
        #expect(server.queries == 1)
    }

    @Test func `both kinds of address are asked for where IPv6 is wanted, and IPv6 comes first`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7", "2001:db8::7", "192.0.2.3") }
        let driver = try ResolverDriver(server) { $0.ipv6 = .always }
        #expect(driver.resolve("example.test") == found("2001:db8::7", "192.0.2.7", "192.0.2.3"))
        #expect(server.queries(for: "example.test", .a) == 1)
        #expect(server.queries(for: "example.test", .aaaa) == 1)
    }

    @Test func `a name is not held up by a server that never answers for IPv6`() throws {
        let server = try DNSServer { $0.type == .aaaa ? .silence : .addresses("192.0.2.7") }
        let driver = try ResolverDriver(server) {
            $0.ipv6 = .always
            $0.timeout = .seconds(300)
        }
        // The look-up alone would wait for longer than the driver does.
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
    }

    @Test func `a name without IPv6 addresses exists, even where a server says that it does not`() throws {
        let server = try DNSServer { $0.type == .aaaa ? .nameError : .addresses("192.0.2.7").delayed(.milliseconds(20)) }
        let driver = try ResolverDriver(server) { $0.ipv6 = .always }
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
    }

    @Test func `an alias leads to the addresses of the name it stands for`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7").through("www.example.test", "edge.cdn.test") }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
    }

    @Test func `aliases of each other are refused, and harm no other name`() throws {
        let server = try DNSServer { question in
            question.name == "loop.test" ? DNSReply.noData.through("other.test", "loop.test") : .addresses("192.0.2.7")
        }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("loop.test") == .failure(.serverFailed(.nonsense)))
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
    }

    @Test func `an answer that does not fit into a datagram is fetched over TCP`() throws {
        let server = try DNSServer { question in
            question.name == "cut.test"
                ? .addresses("192.0.2.7").truncated()
                : DNSReply(addresses: (0..<1000).map { .v4(0xc000_0200 + $0) })
        }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("cut.test") == found("192.0.2.7"))
        #expect(server.queriesOverTCP == 1)

        // Of a thousand addresses a few are as good as all.
        let many = try #require(driver.resolve("huge.test")).get()
        #expect(many == (0..<16).map { IPAddress.v4(0xc000_0200 + $0) })
        #expect(server.queriesOverTCP == 2)
    }

    @Test func `a thousand names over TCP in one moment all arrive`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7").truncated() }
        let driver = try ResolverDriver(server) { $0.timeout = .seconds(10) }
        let outcomes = driver.resolve(all: (0..<1000).map { "n\($0).test" })
        #expect(outcomes.allSatisfy { $0 == found("192.0.2.7") })
    }

    @Test func `it works in libcurl's loop, which reports a refusal as something to read`() async throws {
        let absent = try DNSServer { _ in .silence }
        try await absent.stop()
        let server = try DNSServer { $0.name == "cut.test" ? .addresses("192.0.2.8").truncated() : .addresses("192.0.2.7") }
        let driver = try ResolverDriver(absent, server, inLibcurl: true) { $0.timeout = .seconds(300) }
        // Without the refusal, a look-up would wait for the first server, for longer than the driver does.
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
        #expect(driver.resolve("cut.test") == found("192.0.2.8"))
    }

    @Test func `a lost query is sent again in good time`() throws {
        let server = try DNSServer { $0.previous == 0 ? .silence : .addresses("192.0.2.7") }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
        #expect(server.queries(for: "example.test") == 2)
    }

    @Test func `an answer that comes after the query was repeated counts`() throws {
        let server = try DNSServer { $0.previous == 0 ? .addresses("192.0.2.7").delayed(.milliseconds(800)) : .silence }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
        // The answer is that of the first query: no other one gets any.
        #expect(server.queries(for: "example.test") >= 2)
    }

    @Test func `a server in trouble leaves the question to the next`() throws {
        let first = try DNSServer { $0.name == "broken.test" ? .serverFailure : .refused }
        let second = try DNSServer { _ in .addresses("192.0.2.7") }
        let driver = try ResolverDriver(first, second)
        #expect(driver.resolve("broken.test") == found("192.0.2.7"))
        #expect(driver.resolve("refused.test") == found("192.0.2.7"))
        #expect(first.queries == 2)
    }

    @Test func `a silent server leaves the question to the next`() throws {
        let first = try DNSServer { _ in .silence }
        let second = try DNSServer { _ in .addresses("192.0.2.7") }
        let driver = try ResolverDriver(first, second)
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
    }

    @Test func `a missing server leaves the question to the next`() async throws {
        let first = try DNSServer { _ in .silence }
        try await first.stop()
        let second = try DNSServer { _ in .addresses("192.0.2.7") }
        let driver = try ResolverDriver(first, second)
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
    }

    @Test func `a name that the first server says does not exist is not asked of the next`() throws {
        let first = try DNSServer { _ in .nameError }
        let second = try DNSServer { _ in .addresses("192.0.2.7") }
        let driver = try ResolverDriver(first, second)
        #expect(driver.resolve("example.test") == .failure(.noSuchName))
        #expect(second.queries == 0)
    }

    @Test func `a server that does not know EDNS is asked without it`() throws {
        let server = try DNSServer { question in
            question.hasEDNS ? DNSReply(code: .formatError).withoutEDNS() : .addresses("192.0.2.7")
        }
        let driver = try ResolverDriver(server)
        let outcomes = driver.resolve(all: (0..<50).map { "n\($0).test" })
        #expect(outcomes.allSatisfy { $0 == found("192.0.2.7") })
    }
}
