import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(5))) struct ResolverScaleTests {
    @Test func `names without an answer do not hold up the others`() async throws {
        // The living have all been answered long before, also on a machine that is ten times slower.
        try await withGrowingTime(from: .seconds(3), upTo: .seconds(48)) { try livingEndFirst(timeout: $0) }
    }

    /// False where a look-up without an answer has ended before all others.
    private func livingEndFirst(timeout: Duration) throws -> Bool {
        let server = try DNSServer { question in
            switch question.name.last {
            case "a": .silence
            case "b": .serverFailure
            case "c": .nameError
            default: .addresses("192.0.2.7")
            }
        }
        let driver = try ResolverDriver(server) {
            $0.timeout = timeout
            $0.maximumCached = 10_000
        }
        // Two living ones for each dead.
        let kinds = ["a", "x", "y", "b", "x", "y", "c", "x", "y"]
        var mostDescriptors = 0
        let ids = (0..<20_000).map { driver.ask("n\($0)\(kinds[$0 % kinds.count])") }
        func runs(until count: Int) {
            driver.run(atMost: .seconds(120)) {
                mostDescriptors = max(mostDescriptors, driver.sockets.count)
                return driver.outcomes.count >= count
            }
        }
        // No living one waits for any of the dead to end: all others have ended before the first of these.
        let silent = ids.enumerated().filter { kinds[$0.offset % kinds.count] == "a" }.map(\.element)
        runs(until: ids.count - silent.count)
        guard driver.outcomes.count == ids.count - silent.count, silent.allSatisfy({ driver.outcomes[$0] == nil }) else { return false }
        runs(until: ids.count)

        var outcomes: [Resolution?: Int] = [:]
        for id in ids { outcomes[driver.outcomes[id], default: 0] += 1 }
        #expect(outcomes[found("192.0.2.7")] == 13_333)
        #expect(outcomes[.failure(.timedOut)] == 2223)
        #expect(outcomes[.failure(.serverFailed(.serverFailure))] == 2222)
        #expect(outcomes[.failure(.noSuchName)] == 2222)

        #expect(driver.resolver.running.count == 0)
        #expect(driver.resolver.cache.count == 10_000)
        // A channel for each thousand queries that were under way at a time, and no thread.
        #expect(mostDescriptors < 40)
        driver.run { driver.resolver.pool.outstanding == 0 }
        #expect(driver.sockets.isEmpty)
        #expect(driver.resolver.deadline == nil)
        return true
    }

    @Test func `no more look-ups are under way than permitted, and each has its turn`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.7").delayed(.milliseconds(5)) }
        let driver = try ResolverDriver(server) {
            // On a machine that stands still for a moment no look-up may count as one without an answer.
            $0.timeout = .seconds(60)
            $0.freshness = .seconds(60)
            $0.maximumOutstanding = 20
            $0.maximumFresh = 10
        }
        let ids = (0..<500).map { driver.ask("n\($0).test") }
        var most = 0
        driver.run {
            most = max(most, driver.resolver.running.underWayCount)
            return driver.outcomes.count == ids.count
        }
        #expect(most <= 10)
        #expect(ids.allSatisfy { driver.outcomes[$0] == found("192.0.2.7") })
    }

    @Test func `look-ups without an answer fill all places, and no other begins until they end`() throws {
        let server = try DNSServer { _ in .silence }
        let driver = try ResolverDriver(server) {
            $0.timeout = .milliseconds(400)
            $0.freshness = .milliseconds(10)
            $0.maximumOutstanding = 20
            $0.maximumFresh = 10
        }
        let ids = (0..<50).map { driver.ask("n\($0).test") }
        var most = 0
        driver.run {
            most = max(most, driver.resolver.running.underWayCount)
            return driver.outcomes.count == ids.count
        }
        #expect(most == 20)
        #expect(ids.allSatisfy { driver.outcomes[$0] == .failure(.noNameServer) })
        // In turn: twenty, twenty, ten. A look-up begins when one before it has ended, and then has its whole time.
        let times = ids.map { driver.times[$0] ?? .zero }
        for (earlier, later) in zip(times, times.dropFirst(20)) { #expect(later - earlier >= .milliseconds(390)) }
    }
}
