import GannetTestKit
import Testing

@testable import HTTPEngine

#if os(Linux)
import Glibc

/// In a process of its own, since the limit is a process's.
@Suite(.timeLimit(.minutes(1))) struct ResolverShortageTests {
    @Test func `a name that no descriptor was left to ask for is not the name's failure, nor the network's`() async {
        await #expect(processExitsWith: .success) {
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

            // A shortage that passes is waited for.
            let third = driver.ask("third.test")
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            driver.run { driver.outcomes[third] != nil }
            #expect(driver.outcomes[third] == found("192.0.2.7"))
            #expect(driver.resolve("second.test") == found("192.0.2.7"))
        }
    }
}
#endif
