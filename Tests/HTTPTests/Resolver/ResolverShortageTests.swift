import GannetTestKit
import Glibc
import Testing

@testable import GannetHTTP

/// In a process of its own, because the limit is one of the process.
@Suite(.timeLimit(.minutes(3))) struct ResolverShortageTests {
    @Test func `without a descriptor to ask with, neither the name nor the network is to blame`() async throws {
        try await inOwnProcess {
            let server = try DNSServer { _ in .addresses("192.0.2.7") }
            let driver = try ResolverDriver(server)
            #expect(driver.resolve("first.test") == found("192.0.2.7"))

            var limit = rlimit()
            try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            let free = dup(0)
            close(free)
            var none = limit
            none.rlim_cur = rlim_t(free)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
            #expect(driver.resolve("second.test") == .failure(.systemLimit))

            // The look-up waits for the end of a shortage.
            let third = driver.ask("third.test")
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            driver.run { driver.outcomes[third] != nil }
            #expect(driver.outcomes[third] == found("192.0.2.7"))
            #expect(driver.resolve("second.test") == found("192.0.2.7"))
        }
    }
}
