internal import GannetBase
internal import GannetRedisClient

/// An operator's rule for a host, or for each host of a domain. It outranks what workers are told about politeness.
package struct OperatorRule: Sendable, Equatable {
    /// A host, or `*.` and a domain.
    package let pattern: String

    /// Requests in flight at once, from all workers together; `nil` leaves this to the workers.
    package var limit: Int?

    /// The time from the start of one request to the start of the next; `nil` leaves this to the workers.
    package var interval: Duration?

    /// For how long no request starts from now on.
    package var pause: Duration?

    package static let longestPause = Duration.seconds(365 * 24 * 3600)

    package init(_ pattern: String, limit: Int? = nil, interval: Duration? = nil, pause: Duration? = nil) {
        self.pattern = pattern
        self.limit = limit
        self.interval = interval
        self.pause = pause
    }
}

extension OperatorRule {
    private static let domainMark = "*."

    /// Whether the rule is for each host of a domain. Such hosts are in all partitions.
    package var isForDomain: Bool { pattern.hasPrefix(Self.domainMark) }

    /// The name or address of a host, without its port.
    static func name(of host: String) -> Substring {
        // The colons of an IPv6 address stand in brackets.
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host[...] }
        return host[..<colon]
    }

    /// The patterns of the rules that may hold for a host, the nearest first. `Scripts/Parts/hosts.lua` looks for as many.
    static func patterns(for host: String) -> [String] {
        let parts = name(of: host).split(separator: ".", omittingEmptySubsequences: false)
        return [host] + (1..<max(1, min(16, parts.count))).map { domainMark + parts[$0...].joined(separator: ".") }
    }

    /// A rule whose pause has ended, and that has nothing else, is none.
    var hasEffect: Bool { limit != nil || interval != nil || pause != nil }

    private static func check(pattern: String) throws(StateError) {
        let host = pattern.hasPrefix(domainMark) ? pattern.dropFirst(domainMark.count) : pattern[...]
        let isForbidden = { (byte: UInt8) in
            byte.isControl || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "/")
        }
        guard (1...JobEntry.longestHost).contains(host.utf8.count), !host.utf8.contains(where: isForbidden), host == host.lowercased()
        else {
            throw .invalid("A rule is for a host, or for '*.' and a domain, in lower case; '\(pattern)' is neither.")
        }
    }

    func check() throws(StateError) {
        try Self.check(pattern: pattern)
        guard hasEffect else {
            throw .invalid("A rule has a limit, a pause between two requests, or a pause.")
        }
        try HostRule(limit: limit ?? 1, interval: interval ?? .zero).check()
        if let pause, !(.zero...Self.longestPause ~= pause) { throw .invalid("A host's pause is 0 to 365 days.") }
    }

    /// The rule as `Scripts/Parts/hosts.lua` reads it. Times are ms, and the pause ends in queue time.
    package func bytes(now: Int) -> String {
        func text(_ number: Int?) -> String { number.map { "\($0)" } ?? "" }
        return "\(text(limit)) \(text(interval.map(\.wholeMilliseconds))) \(text(pause.map { now + $0.wholeMilliseconds }))"
    }

    /// `nil` for a text that is no rule.
    package init?(_ pattern: String, _ text: String, now: Int) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        self.init(pattern, limit: Int(parts[0]), interval: Int(parts[1]).map { .milliseconds($0) })
        if let end = Int(parts[2]), end > now { pause = .milliseconds(end - now) }
    }
}

extension ClusterState {
    /// All rules of the namespace, by their patterns. `pause` is what is left of it.
    package func hostRules() async throws(StateError) -> [OperatorRule] {
        try await StateError.mapping {
            var rules: [String: OperatorRule] = [:]
            for partition in partitions {
                let now = try await now(in: partition)
                try await scan("HSCAN", partition.keys.hosts, matching: "=*") { items in
                    for (name, rule) in items.pairs {
                        let pattern = String(try name.asString().dropFirst())
                        rules[pattern] = OperatorRule(pattern, try rule.asString(), now: now)
                    }
                }
            }
            return rules.values.sorted { $0.pattern < $1.pattern }
        }
    }

    /// Stores a rule in place of the one that its pattern had.
    package func set(_ rule: OperatorRule) async throws(StateError) {
        try rule.check()
        for partition in partitions(of: rule) {
            guard try await setRule(rule.pattern, rule.bytes(now: try await now(in: partition)), in: partition) > 0 else {
                throw .invalid("There are 1,000 rules for hosts. Clear one first: 'gannet hosts list' names them.")
            }
        }
    }

    /// Removes the rule of a pattern. Returns whether there was one.
    package func clearRule(_ pattern: String) async throws(StateError) -> Bool {
        var wasThere = false
        for partition in partitions(of: OperatorRule(pattern)) {
            if try await setRule(pattern, "", in: partition) == 1 { wasThere = true }
        }
        return wasThere
    }

    private func setRule(_ pattern: String, _ text: String, in partition: Partition) async throws(StateError) -> Int {
        try await StateError.mapping {
            try await run(scripts.control, in: partition, queue: "", ["rule", .string(pattern), .string(text)]).asInteger()
        }
    }

    private func partitions(of rule: OperatorRule) -> [Partition] { rule.isForDomain ? partitions : [partition(of: rule.pattern)] }
}
