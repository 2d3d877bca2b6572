import Testing

@testable import GannetHTTP

struct ResolverHealthTests {
    private let start = ContinuousClock.now

    @Test func `servers are tested while it is quiet, and not more often than once in a while`() {
        var health = ResolverHealth(timeout: .seconds(10))
        #expect(health.takeProbe(oldest: start, at: start + .milliseconds(999)) == false)
        #expect(health.takeProbe(oldest: start, at: start + .seconds(1)) == true)
        #expect(health.takeProbe(oldest: start, at: start + .milliseconds(1999)) == false)
        #expect(health.takeProbe(oldest: start, at: start + .seconds(2)) == true)
        health.answered(at: start + .milliseconds(2500))
        #expect(health.takeProbe(oldest: start, at: start + .seconds(3)) == false)
        #expect(health.takeProbe(oldest: start, at: start + .milliseconds(3500)) == true)
    }

    @Test func `servers that answered while a look-up waited are not gone`() {
        var health = ResolverHealth(timeout: .seconds(10))
        #expect(health.areGone(since: start, at: start + .seconds(10)))
        health.answered(at: start + .seconds(6))
        #expect(!health.areGone(since: start, at: start + .seconds(10)))
        // But not for long.
        #expect(health.areGone(since: start, at: start + .seconds(11)))
        #expect(health.areGone(since: start + .seconds(7), at: start + .seconds(8)))
    }
}
