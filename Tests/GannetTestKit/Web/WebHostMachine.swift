/// A host of a made-up web as requests come: it decides the answer to each. No clock, randomness or IO is inside.
struct WebHostMachine {
    private(set) var requestsInFlight = 0
    private var first: Int64?
    private var second: Int64 = -1
    private var requestsInSecond = 0

    /// - Parameters:
    ///   - now: Nanoseconds since the first connection to any host.
    ///   - plan: Where the host is one of its hosts.
    mutating func answer(to path: WebPath, at host: WebHost, _ plan: WebPlan, now: Int64) -> WebAnswer {
        requestsInFlight += 1
        let first = first ?? now
        self.first = first
        if now / 1_000_000_000 != second {
            second = now / 1_000_000_000
            requestsInSecond = 0
        }
        requestsInSecond += 1
        guard !plan.profile.isTame else { return goodAnswer(to: path, at: host, plan) }
        if let answer = trouble(path, host, now: now, first: first) { return answer }
        var answer = goodAnswer(to: path, at: host, plan)
        if case .moving(let move) = host.fate, move.manner == .slowness, move.isAway(at: now), case .reply(var reply) = answer {
            reply.delay += WebMove.slowLatency
            answer = .reply(reply)
        }
        return answer
    }

    mutating func ended() { requestsInFlight -= 1 }

    private func goodAnswer(to path: WebPath, at host: WebHost, _ plan: WebPlan) -> WebAnswer {
        switch path {
        case .robots:
            let body: WebAnswer.Body =
                switch host.robots {
                case .missing: .bytes(0)
                case .some: .robots
                case .huge: .hugeRobots
                }
            return .reply(host.robots == .missing ? 404 : 200, body, after: host.latency)
        case .url(let number) where plan.urls.indices.contains(number) && plan.urls[number].host == host.number:
            return answer(plan.urls[number], host.latency(of: number))
        case .target(let number) where plan.urls.indices.contains(number) && plan.urls[number].target == host.number:
            return .reply(200, .bytes(plan.urls[number].size), after: host.latency(of: number))
        case .url, .target, .other:
            return .reply(404, .bytes(100), after: host.latency)
        }
    }

    private func answer(_ url: WebURL, _ latency: Int64) -> WebAnswer {
        switch url.kind {
        case .page: .reply(200, .bytes(url.size), after: latency)
        case .missing: .reply(404, .bytes(500), after: latency)
        case .redirect, .selfRedirect: .reply(302, .bytes(0), location: url.number, after: latency)
        case .cut: .reply(200, .cut(url.size), after: latency)
        case .endless: .reply(200, .endless, after: latency)
        case .badEncoding: .reply(200, .wrongEncoding(max(100, url.size)), after: latency)
        }
    }

    /// The answer of a host that does not behave; nil where it does.
    private func trouble(_ path: WebPath, _ host: WebHost, now: Int64, first: Int64) -> WebAnswer? {
        switch host.fate {
        case .dead(.silentAnswer): return .silence
        case .dead(.reset): return .reset
        case .dead(.robotsError) where path == .robots: return .reply(500, .bytes(100), after: host.latency)
        case .dead(.robotsSilent) where path == .robots: return .silence
        case .angry(let temper) where path != .robots:
            let isOpening = now - first < temper.opening
            let isTooMuch = temper.perSecond > 0 && requestsInSecond > temper.perSecond
            guard isOpening || isTooMuch else { return nil }
            return .reply(temper.status, .bytes(50), retryAfter: temper.retryAfter, after: host.latency / 4)
        case .moving(let move) where move.isAway(at: now):
            switch move.manner {
            case .reset: return .reset
            case .silence: return .silence
            case .slowness: return nil
            }
        default: return nil
        }
    }
}

/// The answer of a host to a request, or its refusal to give one.
enum WebAnswer: Equatable {
    enum Body: Equatable {
        case bytes(Int)
        case robots
        /// 500 KiB, the size up to which RFC 9309 has crawlers read.
        case hugeRobots
        /// Half of the bytes that the head announces.
        case cut(Int)
        case endless
        case wrongEncoding(Int)
    }

    struct Reply: Equatable {
        let status: UInt16
        let body: Body
        /// The URL whose redirect this is.
        var location: Int?
        var retryAfter: Int?
        /// In nanoseconds.
        var delay: Int64
    }

    case reply(Reply)
    case silence
    case reset

    static func reply(_ status: UInt16, _ body: Body, location: Int? = nil, retryAfter: Int? = nil, after delay: Int64) -> WebAnswer {
        .reply(Reply(status: status, body: body, location: location, retryAfter: retryAfter, delay: delay))
    }
}
