import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct ResolverMemoryTests {
    @Test func `a name is asked for once, however many ask in one moment`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7").delayed(.milliseconds(20)) }
        let driver = try ResolverDriver(server)
        let outcomes = driver.resolve(all: Array(repeating: "example.test", count: 500) + ["Example.TEST"])
        #expect(outcomes.allSatisfy { $0 == found("192.0.2.7") })
        #expect(server.queries == 1)
    }

    @Test(arguments: [DNSReply.addresses("192.0.2.7"), .nameError, .noData, .serverFailure])
    func `an outcome is remembered for a while`(reply: DNSReply) throws {
        let server = try DNSServer { _ in reply }
        let driver = try ResolverDriver(server)
        let outcome = try #require(driver.resolve("example.test"))
        #expect(driver.resolver.resolve("example.test", for: 99) == outcome)
        #expect(server.queries == 1)
    }

    @Test func `an address is kept for its time to live, and then asked for again`() throws {
        let server = try DNSServer { $0.previous == 0 ? .addresses("192.0.2.7", ttl: 30) : .addresses("192.0.2.8", ttl: 30) }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
        let later = ContinuousClock.now + .seconds(29)
        #expect(driver.resolver.resolve("example.test", for: 98, at: later) == found("192.0.2.7"))
        #expect(driver.resolver.resolve("example.test", for: 99, at: later + .seconds(2)) == nil)
        driver.run { driver.outcomes[99] != nil }
        #expect(driver.outcomes[99] == found("192.0.2.8"))
    }

    @Test func `a failure that says nothing about a name is not remembered`() throws {
        let server = try DNSServer { question in question.previous < 9 ? .silence : .addresses("192.0.2.7") }
        let driver = try ResolverDriver(server) { $0.timeout = .milliseconds(300) }
        #expect(driver.resolve("example.test") == .failure(.noNameServer))
        #expect(driver.resolver.resolve("example.test", for: 99) == nil)
    }

    @Test func `a cancelled id gets no outcome, and the others do`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7").delayed(.milliseconds(20)) }
        let driver = try ResolverDriver(server)
        let first = driver.ask("example.test")
        let second = driver.ask("example.test")
        driver.resolver.cancel(first)
        driver.run { driver.outcomes[second] != nil }
        #expect(driver.outcomes[first] == nil)
        #expect(driver.outcomes[second] == found("192.0.2.7"))
    }

    @Test func `an id that was cancelled and asks again gets one outcome`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7").delayed(.milliseconds(20)) }
        let driver = try ResolverDriver(server)
        for _ in 0..<100 {
            driver.resolver.cancel(7)
            #expect(driver.resolver.resolve("example.test", for: 7) == nil)
        }
        // The driver stops the test at a second outcome.
        driver.run { driver.outcomes[7] != nil }
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
        #expect(server.queries == 1)
    }

    @Test func `a look-up without ids goes on, and its outcome is for the next`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7").delayed(.milliseconds(20)) }
        let driver = try ResolverDriver(server)
        driver.resolver.cancel(driver.ask("example.test"))
        driver.run { driver.resolver.running.count == 0 }
        #expect(driver.resolver.resolve("example.test", for: 99) == found("192.0.2.7"))
        #expect(server.queries == 1)
    }

    @Test func `a look-up whose ids are all cancelled before its turn is not begun`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7").delayed(.milliseconds(20)) }
        let driver = try ResolverDriver(server) { $0.maximumFresh = 1 }
        let first = driver.ask("first.test")
        driver.resolver.cancel(driver.ask("second.test"))
        let third = driver.ask("third.test")
        driver.run { driver.outcomes[first] != nil && driver.outcomes[third] != nil }
        #expect(server.queries(for: "second.test") == 0)
    }
}
