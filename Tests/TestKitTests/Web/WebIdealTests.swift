import GannetTestKit
import Testing

/// The cases were computed by hand.
@Suite struct WebIdealTests {
    private func plan(_ profile: WebProfile = .clean, latency: Int64, urls: Int, fate: WebHost.Fate = .alive) -> WebPlan {
        var profile = profile
        profile.nameLatency = 0
        var host = WebHost(number: 0)
        host.latency = latency
        host.fate = fate
        return WebPlan(profile, hosts: [host], urls: (0..<urls).map { WebURL(number: $0, host: 0) })
    }

    private func latencies(_ plan: WebPlan) -> [Double] { plan.urls.map { Double(plan.hosts[0].latency(of: $0.number)) / 1e9 } }

    private func isNear(_ one: Double?, _ other: Double) -> Bool { one.map { abs($0 - other) < 1e-6 } ?? false }

    @Test func `eight URLs of a host take its largest latency`() throws {
        let plan = plan(latency: 100_000_000, urls: 8)
        let ideal = WebIdeal(plan)
        #expect(isNear(ideal.seconds(until: 1), try #require(latencies(plan).max())))
        #expect(isNear(ideal.seconds(until: 0.5), latencies(plan).sorted()[3]))
    }

    @Test func `a limit of one adds the latencies`() {
        let plan = plan(latency: 100_000_000, urls: 5)
        var rules = WebIdeal.Rules()
        rules.hostLimit = 1
        #expect(isNear(WebIdeal(plan, rules).seconds(until: 1), latencies(plan).reduce(0, +)))
    }

    @Test func `a polite client reads robots first and then asks for two`() {
        let plan = plan(latency: 100_000_000, urls: 3)
        let each = latencies(plan)
        let firstTwo = [each[0], each[1]].sorted()
        let expected = 0.1 + max(firstTwo[1], firstTwo[0] + each[2])
        #expect(isNear(WebIdeal(plan, .polite).seconds(until: 1), expected))
    }

    @Test func `the processor bounds what latency does not`() {
        let plan = plan(latency: 0, urls: 10)
        #expect(WebIdeal(plan).seconds(until: 0.5, processor: 8) == 4)
        #expect(WebIdeal(plan).seconds(until: 1, processor: 8) == 8)
    }

    @Test func `a host that is angry at first answers later`() {
        let angry = WebHost.Fate.angry(WebTemper(status: 503, opening: 2_000_000_000))
        let plan = plan(latency: 0, urls: 1, fate: angry)
        #expect(isNear(WebIdeal(plan).seconds(until: 1), 2))
    }

    @Test func `a host that answers two a second takes its time`() {
        let plan = plan(latency: 0, urls: 5, fate: .angry(WebTemper(status: 429, perSecond: 2)))
        #expect(isNear(WebIdeal(plan).seconds(until: 1), 2))
    }

    @Test func `dead hosts have no part in it`() {
        let plan = plan(latency: 100_000_000, urls: 5, fate: .dead(.silentAnswer))
        #expect(WebIdeal(plan).times.isEmpty)
        #expect(WebIdeal(plan).seconds(until: 1) == 0)
    }
}
