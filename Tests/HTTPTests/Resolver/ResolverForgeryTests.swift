import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct ResolverForgeryTests {
    @Test(arguments: [DNSReply.Decoy.wrongID, .wrongQuestion, .garbage, .nothing, .fromElsewhere])
    func `a datagram that is not the answer does not count as one`(decoy: DNSReply.Decoy) throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7").after(decoy) }
        let driver = try ResolverDriver(server)
        let outcomes = driver.resolve(all: (0..<20).map { "n\($0).test" })
        #expect(outcomes.allSatisfy { $0 == found("192.0.2.7") })
    }

    @Test func `an answer counts only for the host of the question, and its aliases`() throws {
        // The question is right, and the one record in the answer is another host's.
        let question = [4] + Array("host".utf8) + [4] + Array("test".utf8) + [0, 0, 1, 0, 1]
        let stranger = [5] + Array("other".utf8) + [4] + Array("test".utf8) + [0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 4, 6, 6, 6, 6]
        let server = try DNSServer { _ in .raw([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0] + question + stranger) }
        let driver = try ResolverDriver(server)
        #expect(driver.resolve("host.test") == .failure(.noAddress))
        _ = driver.resolve("other.test")
        #expect(server.queries(for: "other.test") > 0)
    }

    @Test func `queries leave from changing ports`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7") }
        let driver = try ResolverDriver(server)
        for number in 0..<20 { _ = driver.resolve("n\(number).test") }
        #expect(server.ports > 10)

        let before = server.ports
        _ = driver.resolve(all: (0..<3 * NameServerPool.maximumQueries).map { "m\($0).test" })
        #expect(server.ports >= before + 3)
    }
}
