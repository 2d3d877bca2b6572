/// The rules that a polite fetcher keeps, as numbers.
package struct PolitenessRules: Sendable {
    /// The most requests that a host has in flight.
    package var hostLimit = 8
    /// A host without requests for this long has to earn its allowance again. In nanoseconds.
    package var idle: Int64 = 60_000_000_000
    /// The time that news take to the client: requests that come sooner after a failure were under way. In nanoseconds.
    package var grace: Int64 = 100_000_000

    package init() {}
}

/// Whether a client was polite, by the record of a made-up web.
///
/// A host that has not answered may have one request in flight. Each answer doubles its allowance, up to the limit. A silence or a connection that is
/// lost before an answer takes it back to one. A body that breaks off is an answer. An answer that asks for patience (429, 503) leaves it as it is.
package struct PolitenessAudit: Encodable, Equatable, Sendable {
    /// The most requests that one host had in flight.
    package private(set) var mostInFlight = 0
    /// Requests that came while their host had used its allowance up.
    package private(set) var aboveAllowance = 0
    package private(set) var hostsAboveAllowance = 0
    /// The first few of them, as sentences.
    package private(set) var examples: [String] = []
    /// Requests that came before the time was over that a Retry-After had asked for.
    package private(set) var beforeRetryAfter = 0
    /// Origins whose robots.txt was asked for again after it had been answered.
    package private(set) var robotsAskedAgain = 0
    /// Requests of a URL that came before the robots.txt of its origin was answered, or without it.
    package private(set) var beforeRobots = 0
    /// Requests of a URL that robots.txt disallows.
    package private(set) var disallowed = 0
    /// Connections and requests that dead hosts got, by the kind of their death.
    package private(set) var dead: [String: Dead] = [:]

    package struct Dead: Encodable, Equatable, Sendable {
        package var hosts = 0
        package var urls = 0
        /// Connections that were accepted. A host that refuses, or is silent, accepts none.
        package var connections = 0
        package var requests = 0
        /// The most requests that one of them got.
        package var mostRequests = 0
        /// Questions for their names, of all types.
        package var lookUps = 0
    }

    private struct Host {
        var allowance = 1
        var inFlight = 0
        var lastEnd: Int64 = .min
        /// The allowance before the last failure, which counts until the news of it are at the client.
        var before = 1
        var failed: Int64 = .min
        /// The time that the last Retry-After asks for.
        var patience: (from: Int64, until: Int64)?
        var robotsAnswered = false
        var robotsAgain = false
        var isAbove = false
    }

    /// - Parameter lookUps: How often a name was asked for.
    package init(_ record: WebRecord, _ plan: WebPlan, _ rules: PolitenessRules = .init(), lookUps: (String) -> Int = { _ in 0 }) {
        var hosts = [Host](repeating: Host(), count: plan.hosts.count)
        // An end before a beginning of the same moment: the client may have waited for it.
        var events = record.requests.indices.map { (time: record.requests[$0].begun, order: 1, request: $0) }
        for (number, request) in record.requests.enumerated() where request.end != .inFlight {
            events.append((request.ended, 0, number))
        }
        events.sort { ($0.time, $0.order, $0.request) < ($1.time, $1.order, $1.request) }
        for event in events {
            let request = record.requests[event.request]
            let number = Int(request.host)
            if event.order == 1 {
                begin(request, &hosts[number], plan, rules, first: record.first ?? 0)
            } else {
                end(request, &hosts[number], rules)
            }
        }
        hostsAboveAllowance = hosts.count { $0.isAbove }
        robotsAskedAgain = hosts.count { $0.robotsAgain }
        countDead(record, plan, lookUps)
    }

    private mutating func begin(_ request: WebRequest, _ host: inout Host, _ plan: WebPlan, _ rules: PolitenessRules, first: Int64) {
        let now = request.begun
        if host.inFlight == 0, host.lastEnd != .min, now - host.lastEnd > rules.idle { host.allowance = 1 }
        host.inFlight += 1
        mostInFlight = max(mostInFlight, host.inFlight)
        let isNews = host.failed != .min && now - host.failed < rules.grace
        let allowance = isNews ? max(host.before, host.allowance) : host.allowance
        if host.inFlight > allowance {
            aboveAllowance += 1
            host.isAbove = true
            if examples.count < 5 {
                examples.append(
                    "\(plan.hosts[Int(request.host)].name) had \(host.inFlight) requests in flight and had earned \(allowance), after \((now - first) / 1_000_000) ms"
                )
            }
        }
        if let patience = host.patience, now > patience.from + rules.grace, now < patience.until { beforeRetryAfter += 1 }
        switch request.path {
        case .robots: if host.robotsAnswered { host.robotsAgain = true }
        case .url(let url):
            if !host.robotsAnswered { beforeRobots += 1 }
            if plan.urls.indices.contains(Int(url)), plan.urls[Int(url)].isDisallowed { disallowed += 1 }
        case .target, .other: if !host.robotsAnswered { beforeRobots += 1 }
        }
    }

    private func end(_ request: WebRequest, _ host: inout Host, _ rules: PolitenessRules) {
        host.inFlight -= 1
        host.lastEnd = request.ended
        let asksForPatience = request.status == 429 || request.status == 503
        switch request.end {
        case .complete where asksForPatience:
            let until = request.ended + Int64(request.retryAfter) * 1_000_000_000
            if request.retryAfter > 0, until > host.patience?.until ?? .min { host.patience = (request.ended, until) }
        case .broken where request.status > 0: host.allowance = min(rules.hostLimit, host.allowance * 2)
        case .complete:
            host.allowance = min(rules.hostLimit, host.allowance * 2)
            if request.path == .robots, request.status < 500 { host.robotsAnswered = true }
        // A client that had enough of a body has not met a failure of the host.
        case .left where request.bytes > 0: break
        case .broken, .left, .inFlight:
            let isNews = host.failed != .min && request.ended - host.failed < rules.grace
            host.before = isNews ? max(host.before, host.allowance) : host.allowance
            host.failed = request.ended
            host.allowance = 1
        }
    }

    private mutating func countDead(_ record: WebRecord, _ plan: WebPlan, _ lookUps: (String) -> Int) {
        var requests = [Int](repeating: 0, count: plan.hosts.count)
        for request in record.requests { requests[Int(request.host)] += 1 }
        for host in plan.hosts {
            guard let death = host.death else { continue }
            var sum = dead[death.rawValue, default: Dead()]
            sum.hosts += 1
            sum.urls += host.urls.count
            sum.connections += record.connections[host.number]
            sum.requests += requests[host.number]
            sum.mostRequests = max(sum.mostRequests, requests[host.number])
            sum.lookUps += lookUps(host.name)
            dead[death.rawValue] = sum
        }
    }
}
