/// A host of a made-up web, and how it behaves.
package struct WebHost: Sendable, Equatable {
    package enum Fate: Sendable, Equatable {
        case alive
        case slow
        case dead(WebDeath)
        case angry(WebTemper)
        case moving(WebMove)
    }

    package enum Robots: Sendable, Equatable {
        case missing, some, huge
    }

    /// Its place in the plan, and the number in its name.
    package let number: Int
    package var fate = Fate.alive
    package var speaksTLS = false
    package var robots = Robots.missing
    /// The time from a request to its answer, in nanoseconds. Single answers take up to a fifth more or less.
    package var latency: Int64 = 0
    /// Its URLs, in the order of the list.
    package var urls: [Int] = []

    package init(number: Int) { self.number = number }

    package static let zone = "web.test"

    package var name: String { "h\(number).\(Self.zone)" }

    /// Each host has an address of its own below 127.1.0.0.
    package var address: UInt32 { Self.firstAddress + UInt32(number) }

    /// The address with points.
    package var addressText: String { [24, 16, 8, 0].map { "\(address >> $0 & 0xff)" }.joined(separator: ".") }

    package static let firstAddress: UInt32 = 0x7f01_0001

    /// The number in a host's name; nil for another name.
    package static func number(in name: String) -> Int? {
        guard name.hasPrefix("h"), name.hasSuffix("." + zone) else { return nil }
        return Int(name.dropFirst().dropLast(zone.utf8.count + 1))
    }

    /// Whether all its good URLs can be fetched by a client that obeys robots.txt.
    package var isGood: Bool {
        switch fate {
        case .dead: false
        case .moving(let move): move.returns != nil || move.manner == .slowness
        case .alive, .slow, .angry: true
        }
    }

    package var death: WebDeath? { if case .dead(let death) = fate { death } else { nil } }

    package func latency(of url: Int) -> Int64 {
        var draw = Draw(UInt64(url) &* 0x2545_f491_4f6c_dd1d)
        return latency / 10 * Int64(8 + draw.below(5))
    }
}

/// A way in which a host is dead.
package enum WebDeath: String, Sendable, CaseIterable {
    /// Its port refuses connections.
    case refused
    /// Its port never answers a connection's first packet.
    case silentConnect = "silent-connect"
    /// It accepts connections and never says a word.
    case silentAnswer = "silent-answer"
    /// Its name does not exist.
    case noSuchName = "no-such-name"
    /// Its robots.txt is a 500. All else is good, and forbidden to clients that obey RFC 9309.
    case robotsError = "robots-error"
    /// Its robots.txt is never answered. All else is good.
    case robotsSilent = "robots-silent"
    /// Its certificate has expired, is for another name, or has no authority.
    case badCertificate = "bad-certificate"
    /// It resets each connection when a request has come.
    case reset

    /// The shares among dead hosts, in per cent.
    package static let shares: [(WebDeath, Int)] = [
        (.noSuchName, 45), (.silentConnect, 12), (.silentAnswer, 10), (.badCertificate, 10), (.reset, 8), (.refused, 7), (.robotsError, 5),
        (.robotsSilent, 3),
    ]
}

/// How a host answers that it is asked too much.
package struct WebTemper: Sendable, Equatable {
    package var status: UInt16
    /// The seconds that it asks for, where it says so.
    package var retryAfter: Int?
    /// It answers so for this time after its first request, in nanoseconds.
    package var opening: Int64 = 0
    /// The most requests that it answers in a second. Zero is no limit.
    package var perSecond = 0

    package init(status: UInt16, retryAfter: Int? = nil, opening: Int64 = 0, perSecond: Int = 0) {
        self.status = status
        self.retryAfter = retryAfter
        self.opening = opening
        self.perSecond = perSecond
    }
}

/// How a host changes during a run, in nanoseconds from the first connection to any host.
package struct WebMove: Sendable, Equatable {
    package enum Manner: String, Sendable, CaseIterable {
        case reset, silence, slowness
    }

    package var manner: Manner
    package var leaves: Int64
    /// When it is as it was; nil for never.
    package var returns: Int64?

    package static let slowLatency: Int64 = 5_000_000_000

    package func isAway(at time: Int64) -> Bool { time >= leaves && returns.map { time < $0 } ?? true }
}
