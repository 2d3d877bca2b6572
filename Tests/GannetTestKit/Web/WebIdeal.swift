internal import GannetBase

/// The least time in which the good URLs of a made-up web can be fetched: each host by itself, all hosts at once.
package struct WebIdeal: Sendable {
    package struct Rules: Sendable {
        /// The most requests that a host has in flight.
        package var hostLimit = 8
        /// Whether a host begins with one request, and each answer doubles its allowance.
        package var earns = false
        /// Whether robots.txt comes first.
        package var readsRobots = false
        /// Bytes of a body that arrive in a second.
        package var bandwidth = 1e9

        package init() {}

        /// The rules of a fetcher that is polite.
        package static let polite: Rules = {
            var rules = Rules()
            rules.earns = true
            rules.readsRobots = true
            return rules
        }()
    }

    /// When each good URL is there at the earliest, in seconds and in their order.
    package let times: [Double]

    package init(_ plan: WebPlan, _ rules: Rules = .init()) {
        times = plan.hosts.filter(\.isGood).flatMap { Self.times(of: $0, plan, rules) }.sorted()
    }

    /// The least time until a share of the good URLs is there.
    /// - Parameter processor: The time that the processor needs for all of them.
    package func seconds(until share: Double, processor: Double = 0) -> Double {
        guard !times.isEmpty else { return 0 }
        return max(times[Self.count(share, of: times.count) - 1], share * processor)
    }

    /// How many of all URLs a share of them is: one at least.
    package static func count(_ share: Double, of all: Int) -> Int { min(all, max(1, Int((share * Double(all)).rounded(.up)))) }

    private static func times(of host: WebHost, _ plan: WebPlan, _ rules: Rules) -> [Double] {
        let good = host.urls.filter { plan.isGood(plan.urls[$0]) }
        var now = plan.profile.nameLatency
        var allowance = rules.earns ? 1 : rules.hostLimit
        if rules.readsRobots {
            now += Double(host.latency) / 1e9
            allowance = min(rules.hostLimit, allowance * 2)
        }
        var perSecond = Int.max
        if case .angry(let temper) = host.fate, !plan.profile.isTame {
            now = max(now, Double(temper.opening) / 1e9)
            if temper.perSecond > 0 { perSecond = temper.perSecond }
        }
        let start = now
        var ends = DueHeap<Double, Void>()
        var inFlight = 0
        var times: [Double] = []
        for (index, number) in good.enumerated() {
            while inFlight >= allowance, let next = ends.nextDue {
                now = max(now, next)
                _ = ends.popDue(at: next)
                inFlight -= 1
                allowance = min(rules.hostLimit, allowance * 2)
            }
            let url = plan.urls[number]
            let body = Double(url.size) / rules.bandwidth
            // A host that answers few requests a second answers the first of them at once.
            let begins = max(now, start + Double(index / perSecond))
            let own = begins + Double(host.latency(of: number)) / 1e9
            ends.add((), due: own + (url.target == nil ? body : 0))
            inFlight += 1
            times.append(own + body + (url.target.map { Double(plan.hosts[$0].latency(of: number)) / 1e9 } ?? 0))
        }
        return times
    }
}
