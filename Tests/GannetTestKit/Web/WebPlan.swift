internal import GannetBase

/// All hosts and URLs of a made-up web. A profile, a seed and two numbers decide them.
package struct WebPlan: Sendable, Equatable {
    package let profile: WebProfile
    package let seed: UInt64
    package private(set) var hosts: [WebHost]
    /// The list, in its order. The URLs of a host are scattered in it.
    package private(set) var urls: [WebURL] = []

    package init(_ profile: WebProfile, seed: UInt64, hosts count: Int, urls urlCount: Int) {
        precondition(count > 0 && count < 1 << 22 && urlCount >= 0, "a web has hosts, and each has an address below 127.0.0.0/8")
        self.profile = profile
        self.seed = seed
        var draw = Draw(seed)
        hosts = (0..<count).map { WebHost(number: $0) }
        Self.decideFates(of: &hosts, profile, &draw)
        for number in hosts.indices { Self.decide(&hosts[number], profile, &draw) }
        let owners = Self.owners(hosts, profile, urlCount, &draw)
        // A redirect leads to a host that answers for the whole run.
        let targets = hosts.filter { $0.fate == .alive }.map(\.number)
        for (number, host) in owners.enumerated() {
            hosts[host].urls.append(number)
            urls.append(Self.url(number, at: hosts[host], targets, profile, &draw))
        }
    }

    /// A plan by hand.
    package init(_ profile: WebProfile, hosts: [WebHost], urls: [WebURL]) {
        self.profile = profile
        seed = 0
        self.hosts = hosts
        self.urls = urls
        for url in urls { self.hosts[url.host].urls.append(url.number) }
    }

    /// Whether a client that obeys robots.txt can get it.
    package func isGood(_ url: WebURL) -> Bool {
        (url.kind == .page || url.kind == .redirect) && !url.isDisallowed && hosts[url.host].isGood
    }

    /// The host that has the body of a URL.
    package func bodyHost(of url: WebURL) -> Int { url.target ?? url.host }

    /// Exact numbers of each fate, so that webs of different seeds differ in who is dead and not in how many are.
    private static func decideFates(of hosts: inout [WebHost], _ profile: WebProfile, _ draw: inout Draw) {
        // The first host is the giant, where there is one, and a web has one good host at least.
        var order = Array(hosts.indices.dropFirst())
        order.shuffle(using: &draw)
        func take(_ share: Double) -> [Int] {
            let taken = Array(order.prefix(Int((share * Double(hosts.count)).rounded())))
            order.removeFirst(taken.count)
            return taken
        }
        for number in take(profile.dead) { hosts[number].fate = .dead(draw.one(of: WebDeath.shares)) }
        for number in take(profile.slow) { hosts[number].fate = .slow }
        for number in take(profile.angry) { hosts[number].fate = .angry(temper(&draw)) }
        for number in take(profile.moving) { hosts[number].fate = .moving(move(&draw)) }
    }

    private static func temper(_ draw: inout Draw) -> WebTemper {
        var temper = WebTemper(status: draw.chance(50) ? 429 : 503, retryAfter: draw.chance(50) ? 1 + draw.below(4) : nil)
        if draw.chance(50) { temper.opening = Int64(1 + draw.below(5)) * 1_000_000_000 } else { temper.perSecond = 3 + draw.below(8) }
        return temper
    }

    private static func move(_ draw: inout Draw) -> WebMove {
        let leaves = Int64(1000 + draw.below(9000)) * 1_000_000
        let returns = draw.chance(70) ? leaves + Int64(2000 + draw.below(18_000)) * 1_000_000 : nil
        return WebMove(manner: draw.one(of: WebMove.Manner.allCases), leaves: leaves, returns: returns)
    }

    private static func decide(_ host: inout WebHost, _ profile: WebProfile, _ draw: inout Draw) {
        let usual = profile.latency * exp(profile.latencySpread * draw.normal())
        let slow = profile.slowSeconds.lowerBound + draw.unit() * (profile.slowSeconds.upperBound - profile.slowSeconds.lowerBound)
        let isGiant = host.number == 0 && profile.giant > 0
        var seconds = isGiant ? min(usual, 0.04) : min(usual, 3)
        if host.fate == .slow, !profile.isTame { seconds = slow }
        host.latency = Int64(seconds * 1e9)
        host.speaksTLS = draw.unit() < profile.tls
        host.robots = draw.unit() < profile.robots ? (draw.chance(3) ? .huge : .some) : .missing
        switch host.fate {
        case .dead(.badCertificate): host.speaksTLS = true
        // There is nobody to speak with, or nobody that says why.
        case .dead(.refused), .dead(.silentConnect): host.speaksTLS = false
        default: break
        }
    }

    /// The host of each URL. Sizes of hosts have a heavy tail, up to 3 % of the list.
    private static func owners(_ hosts: [WebHost], _ profile: WebProfile, _ count: Int, _ draw: inout Draw) -> [Int] {
        let ofGiant = Int(Double(count) * profile.giant)
        var owners = [Int](repeating: 0, count: ofGiant)
        let rest = count - ofGiant
        let weights = hosts.map { _ in min(pow(1 - draw.unit(), -1 / 1.2), 200) }
        let sum = weights.reduce(0, +)
        // A host that needs seconds for each answer would be the whole measurement, and so would one that answers few a second.
        let most = hosts.map { host in
            switch host.fate {
            case .slow: min(16, max(1, rest / 50))
            case .angry: min(60, max(1, rest / 50))
            default: max(1, rest * 3 / 100)
            }
        }
        for (number, weight) in weights.enumerated() where owners.count < count {
            let share = min(max(1, Int(weight / sum * Double(rest))), most[number], count - owners.count)
            owners += [Int](repeating: number, count: share)
        }
        // The rounding has left some URLs.
        let common = hosts.filter { $0.fate != .slow }.map(\.number)
        while owners.count < count { owners.append(draw.one(of: common)) }
        owners.shuffle(using: &draw)
        return owners
    }

    private static func url(_ number: Int, at host: WebHost, _ targets: [Int], _ profile: WebProfile, _ draw: inout Draw) -> WebURL {
        var place = draw.unit()
        var kind = WebURL.Kind.page
        for candidate in WebURL.Kind.allCases {
            place -= profile.misbehaviour[candidate] ?? 0
            if place < 0 {
                kind = candidate
                break
            }
        }
        let target = draw.one(of: targets)
        let isDisallowed = draw.unit() < profile.disallowed && host.robots != .missing
        if kind == .redirect, target == host.number { kind = .page }
        return WebURL(
            number: number, host: host.number, kind: kind, size: size(&draw), isDisallowed: isDisallowed,
            target: kind == .redirect ? target : nil)
    }

    /// A median of 10 KB and a mean of some 30 KB: one body in a hundred is empty, and one in two hundred has up to 20 MB.
    private static func size(_ draw: inout Draw) -> Int {
        let place = draw.unit()
        let body = 10_000 * exp(1.3 * draw.normal())
        let tail = 200_000 * pow(1 - draw.unit(), -1 / 1.1)
        if place < 0.01 { return 0 }
        return Int(min(place < 0.015 ? tail : body, 20e6))
    }
}

extension Draw: RandomNumberGenerator {
    package mutating func next() -> UInt64 { number() }

    /// From 0 to 1, without 1.
    mutating func unit() -> Double { Double(number() >> 11) * 0x1p-53 }

    /// Of the normal distribution.
    mutating func normal() -> Double {
        let radius = (-2 * log(1 - unit())).squareRoot()
        return radius * cos(2 * .pi * unit())
    }
}
