import GannetTestKit
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(1))) struct ResolverTests {
    @Test func `a name has the addresses that the name server gives, in its order`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7", "192.0.2.3") }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("example.test") == found("192.0.2.7", "192.0.2.3"))
        #expect(server.queries == 1)
    }

    @Test(arguments: [
        ("missing.test", ResolveFailure.noSuchName),
        ("empty.test", .noAddress),
        ("broken.test", .serverFailed(.serverFailure)),
        ("refused.test", .serverFailed(.refused)),
        ("silent.test", .timedOut),
    ])
    func `each way in which a name has no address is told apart`(name: String, failure: ResolveFailure) throws {
        let server = try DNSServer { question in
            switch question.name {
            case "missing.test": .nameError
            case "empty.test": .noData
            case "broken.test": .serverFailure
            case "refused.test", "": .refused
            default: .silence
            }
        }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve(name) == .failure(failure))
    }

    @Test func `a server that answers nothing at all is told from a name that nobody answers for`() throws {
        let server = try DNSServer { _ in .silence }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("example.test") == .failure(.noNameServer))
    }

    @Test func `a server that is not there is told at once`() async throws {
        let server = try DNSServer { _ in .silence }
        try await server.stop()
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("example.test") == .failure(.noNameServer))
    }

    @Test func `an answer that does not fit into a datagram is fetched over TCP`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7").truncated() }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("example.test") == found("192.0.2.7"))
        #expect(server.queriesOverTCP == 1)
    }
}
