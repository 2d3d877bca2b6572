/// The result of a run against a made-up web: when its good URLs were there, and how polite the client was.
package struct WebAnalysis: Encodable, Sendable {
    package let profile: String
    package let seed: UInt64
    package let hosts: Int
    package let urls: Int
    package let good: Int
    /// How many of them had a complete good answer.
    package private(set) var goodAnswered = 0
    /// When shares of the good URLs were there, by the share in per cent: nanoseconds of the system's monotonic clock.
    package private(set) var goodAt: [String: Int64] = [:]
    /// The least times in seconds, also those of a polite client, which reads robots.txt and asks a new host for one URL.
    package private(set) var ideal: [String: Double] = [:]
    package private(set) var politeIdeal: [String: Double] = [:]
    /// The least times of the hosts alone, with a processor that needs no time.
    package private(set) var idealOfHosts: [String: Double] = [:]
    package let requests: Int
    package let bytes: Int64
    package let mostOpenConnections: Int
    package let failedHandshakes: Int
    package let refusedByLimit: Int
    package let audit: PolitenessAudit

    package static let shares = [50, 90, 99, 100]

    package init(_ record: WebRecord, _ plan: WebPlan, _ audit: PolitenessAudit, processor: Double = 0) {
        profile = plan.profile.name
        seed = plan.seed
        hosts = plan.hosts.count
        urls = plan.urls.count
        good = plan.urls.count { plan.isGood($0) }
        requests = record.requests.count
        bytes = record.requests.reduce(0) { $0 + $1.bytes }
        mostOpenConnections = record.mostOpenConnections
        failedHandshakes = record.failedHandshakes
        refusedByLimit = record.refusedByLimit
        self.audit = audit

        let times = Self.goodTimes(record, plan)
        goodAnswered = times.count
        let least = WebIdeal(plan)
        let polite = WebIdeal(plan, .polite)
        for share in Self.shares {
            let part = Double(share) / 100
            let count = WebIdeal.count(part, of: good)
            if good > 0, count <= times.count { goodAt["\(share)"] = times[count - 1] }
            ideal["\(share)"] = least.seconds(until: part, processor: processor)
            idealOfHosts["\(share)"] = least.seconds(until: part)
            politeIdeal["\(share)"] = polite.seconds(until: part, processor: processor)
        }
    }

    /// When each good URL was answered in full for the first time, in order.
    private static func goodTimes(_ record: WebRecord, _ plan: WebPlan) -> [Int64] {
        var times: [Int32: Int64] = [:]
        for request in record.requests where request.status == 200 && request.end == .complete {
            let number: Int32
            switch request.path {
            case .url(let url) where plan.urls[Int(url)].kind == .page: number = url
            case .target(let url): number = url
            default: continue
            }
            guard plan.isGood(plan.urls[Int(number)]) else { continue }
            times[number] = min(times[number] ?? .max, request.ended)
        }
        return times.values.sorted()
    }
}
