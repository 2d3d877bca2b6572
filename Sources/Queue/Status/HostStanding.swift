internal import GannetBase
package import GannetRedisClient

/// A host as Redis knows it, which decides whether another request may begin.
package struct HostStanding: Sendable, Equatable {
    /// Requests in flight, from all workers and gateways.
    package var running = 0
    /// When the next request may start: by the host's rate, and by its rest. In queue time, ms.
    package var nextStart = 0
    package var restsUntil = 0
    /// Answers since the host had its last failure, rest or pause without requests. Each doubles the places that it may have.
    package var earned = 0
    /// Requests without an answer, in a row.
    package var failures = 0
    /// When the first of these failures was settled, or since when the host asks for rests and answers no request; 0 without these.
    package var downSince = 0
    /// The last of these failures, or the answer that asked for the rest. Any job of the host may have had it.
    package var lastFailure: OutcomeContent?
    /// A single request has to succeed before others may start.
    package var isProbing = false
    /// The host has not answered for too long: jobs that would have to wait for it fail.
    package var isGivenUp = false
    /// The least time between two starts that the site or its slow answers ask for.
    package var pace = HostPace.none
    /// The operator's rule that holds for the host. It outranks the workers' settings.
    package var rule: OperatorRule?
}

extension HostStanding {
    /// Bytes of a host's record, but for the last failure and the waiting queues.
    private static let shortestRecord = 32

    /// For how long no request starts: the host asked for a rest or took no connection, or an operator's rule pauses it.
    func rest(at now: Int) -> Duration? {
        let own = restsUntil > now ? Duration.milliseconds(restsUntil - now) : nil
        return [own, rule?.pause].compactMap(\.self).max()
    }

    /// Reads the record of a host and the rules that may hold for it.
    static func command(_ host: String, _ keys: Keys) -> RedisCommand {
        let rules = OperatorRule.patterns(for: host).map { RedisArgument.string("=" + $0) }
        return RedisCommand([.string("HMGET"), keys.hosts, .string(host)] + rules)
    }

    /// - Parameter reply: The answer to ``command(_:_:)``. Redis may have no record of a host without requests.
    package init(_ reply: RedisReply, of host: String, at now: Int) throws {
        let fields = try reply.asArray()
        self.init(record: try fields.first?.asOptionalBytes() ?? [])
        let rules = try zip(OperatorRule.patterns(for: host), fields.dropFirst()).compactMap { pattern, text in
            try text.asOptionalString().flatMap { OperatorRule(pattern, $0, now: now) }
        }
        rule = rules.first { $0.hasEffect }
    }

    /// A record that cannot be read counts as none.
    init(record: [UInt8]) {
        var reader = ByteReader(record.count < Self.shortestRecord ? [] : record)
        (running, earned) = (reader.number(2) ?? 0, reader.number(1) ?? 0)
        (nextStart, restsUntil, failures) = (reader.number(6) ?? 0, reader.number(6) ?? 0, reader.number(1) ?? 0)
        _ = reader.number(1)
        let probing = reader.number(1) ?? 0
        downSince = reader.number(6) ?? 0
        _ = reader.number(6)
        lastFailure = reader.number(2).flatMap { $0 > 0 ? reader.bytes($0) : nil }.flatMap { OutcomeContent($0) }
        (isProbing, isGivenUp, pace) = (probing % 4 > 0, probing % 4 >= 2, HostPace(step: probing / 4))
    }
}
