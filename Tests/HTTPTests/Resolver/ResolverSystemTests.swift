import GannetTestKit
import Glibc
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct ResolverSystemTests {
    @Test(arguments: ["localhost", "LocalHost", "localhost.", "db.localhost"])
    func `localhost is this machine and never asked for`(host: String) throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7") }
        let driver = try ResolverDriver(server)
        #expect(driver.resolver.resolve(host, for: 1) == found("127.0.0.1", "::1"))
        #expect(server.queries == 0)
    }

    @Test(arguments: [("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1")])
    func `an address is its own answer`(host: String, address: String) throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7") }
        let driver = try ResolverDriver(server)
        #expect(driver.resolver.resolve(host, for: 1) == found(address))
        #expect(server.queries == 0)
    }

    @Test(arguments: [
        ("EXAMPLE.Test", "example.test"), ("example.test.", "example.test"), ("_a.xn--bcher-kva.test", "_a.xn--bcher-kva.test"),
    ])
    func `a name is asked for in lower case and without the dot at its end`(host: String, asked: String) throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7") }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve(host) == found("192.0.2.7"))
        #expect(server.queries(for: asked, .a) == 1)
    }

    @Test func `the hosts file comes first, and its changes are noticed`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "192.0.2.1 one.test Two.TEST # three.test\n2001:db8::1\tone.test\r\nnonsense one.test\n".utf8, to: "hosts")
        let server = try DNSServer { _ in .nameError }
        let driver = try ResolverDriver(server) { $0.hostsFile = file }
        #expect(driver.resolve("one.test") == found("192.0.2.1", "2001:db8::1"))
        #expect(driver.resolve("two.test.") == found("192.0.2.1"))
        #expect(driver.resolve("three.test") == .failure(.noSuchName))
        #expect(server.queries == 1)

        try folder.write("192.0.2.99 one.test".utf8, to: "hosts")
        let later = ContinuousClock.now + .seconds(2)
        #expect(driver.resolver.resolve("one.test", for: 99, at: later) == found("192.0.2.99"))
        unlink(file)
        #expect(driver.resolver.resolve("one.test", for: 98, at: later + .seconds(2)) == nil)
    }

    @Test func `a short name is looked for in the search list, a whole one is not`() throws {
        let server = try DNSServer { $0.name == "redis.two.test" ? .addresses("192.0.2.7") : .nameError }
        let driver = try systemDriver("nameserver \(server.address)\nsearch one.test two.test\n")
        #expect(driver.resolve("redis") == found("192.0.2.7"))
        #expect(server.queries(for: "redis.one.test") == 1)
        #expect(server.queries(for: "redis") == 0)

        #expect(driver.resolve("redis.dead") == .failure(.noSuchName))
        #expect(server.queries(for: "redis.dead.one.test") == 0)
        #expect(driver.resolve("other") == .failure(.noSuchName))
        #expect(server.queries(for: "other") == 1)
        #expect(driver.resolve("redis.") == .failure(.noSuchName))
    }

    @Test func `where the file wants more dots, a whole name comes before the search list`() throws {
        let server = try DNSServer { ["redis.space.two.test", "example.test"].contains($0.name) ? .addresses("192.0.2.7") : .nameError }
        let driver = try systemDriver("nameserver \(server.address)\nsearch one.test two.test\noptions ndots:5\n")
        #expect(driver.resolve("redis.space") == found("192.0.2.7"))
        #expect(server.queries(for: "redis.space") == 1)
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
        #expect(server.queries(for: "example.test.one.test") == 0)
    }

    @Test func `other name servers in the system's file are noticed, also for what is under way`() throws {
        let folder = try TemporaryFolder()
        let old = try DNSServer { $0.name.hasPrefix("kept") ? .addresses("192.0.2.6", ttl: 3600) : .silence }
        let new = try DNSServer { _ in .addresses("192.0.2.7") }
        let file = try folder.write("nameserver \(old.address)\n".utf8, to: "resolv.conf")
        let driver = try ResolverDriver {
            $0.configurationFile = file
            $0.timeout = .seconds(20)
        }
        #expect(driver.resolve("kept.test") == found("192.0.2.6"))
        let early = driver.ask("early.test")
        driver.run { old.queries(for: "early.test") == 1 }

        try folder.write("nameserver \(new.address)\n".utf8, to: "resolv.conf")
        #expect(driver.resolver.resolve("kept.test", for: 99, at: .now + .seconds(4)) == nil)
        driver.run { driver.outcomes[99] != nil && driver.outcomes[early] != nil }
        #expect(driver.outcomes[99] == found("192.0.2.7"))
        #expect(driver.outcomes[early] == found("192.0.2.7"))
    }

    private func systemDriver(_ configuration: String) throws -> ResolverDriver {
        let folder = try TemporaryFolder()
        let file = try folder.write(configuration.utf8, to: "resolv.conf")
        return try ResolverDriver { $0.configurationFile = file }
    }
}
