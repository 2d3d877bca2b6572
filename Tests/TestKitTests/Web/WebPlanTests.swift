import GannetTestKit
import Testing

@Suite struct WebPlanTests {
    @Test(arguments: WebProfile.all.map(\.name)) func `a seed decides everything`(name: String) throws {
        let profile = try #require(WebProfile.named(name))
        let plan = WebPlan(profile, seed: 7, hosts: 100, urls: 500)
        #expect(plan == WebPlan(profile, seed: 7, hosts: 100, urls: 500))
        #expect(plan != WebPlan(profile, seed: 8, hosts: 100, urls: 500))
        #expect(plan.urls.map(\.number) == Array(0..<500))
        #expect(plan.hosts.reduce(0) { $0 + $1.urls.count } == 500)
    }

    @Test func `the shares of a profile are exact`() {
        let plan = WebPlan(.usual, seed: 1, hosts: 1000, urls: 5000)
        #expect(plan.hosts.count { $0.death != nil } == 90)
        #expect(plan.hosts.count { $0.fate == .slow } == 20)
        #expect(plan.hosts.first?.fate == .alive)
    }

    @Test func `half of the list is at the giant`() {
        let plan = WebPlan(.giant, seed: 1, hosts: 100, urls: 1000)
        #expect(plan.hosts[0].urls.count >= 500)
        #expect(plan.hosts.dropFirst().allSatisfy { $0.urls.count <= 60 })
    }

    @Test func `a web without trouble has the same list`() {
        let plan = WebPlan(.angry, seed: 3, hosts: 100, urls: 500)
        let tame = WebPlan(WebProfile.angry.withoutTrouble(), seed: 3, hosts: 100, urls: 500)
        #expect(tame.hosts.count { $0.death != nil } == 0)
        #expect(tame.hosts.allSatisfy { $0.latency == 0 })
        #expect(tame.urls.count == plan.urls.count)
    }

    @Test func `sizes have a heavy tail and a bound`() {
        let sizes = WebPlan(.clean, seed: 1, hosts: 10, urls: 5000).urls.map(\.size).sorted()
        #expect((7_000...14_000).contains(sizes[2500]))
        #expect(sizes[0] == 0)
        #expect(sizes.last.map { $0 > 200_000 && $0 <= 20_000_000 } == true)
    }

    @Test func `a name has the number of its host`() {
        #expect(WebHost.number(in: WebHost(number: 812).name) == 812)
        #expect(WebHost(number: 812).addressText == "127.1.3.45")
        #expect(WebHost.number(in: "h1.example.test") == nil)
    }
}
