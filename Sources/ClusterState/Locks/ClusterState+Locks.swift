internal import RedisClient

/// Locks and outcomes of URLs, for jobs and for callers without one.
extension ClusterState {
    /// The outcome of a URL, or the right to fetch it.
    package func acquire(_ request: AcquireRequest) async throws(StateError) -> AcquireAnswer {
        let lease = try ClaimRequest.milliseconds(ofLease: request.lease)
        return try await StateError.mapping {
            try await AcquireAnswer(
                run(
                    ClusterScripts.acquire,
                    [
                        .bytes(request.id.bytes), .bytes(request.nonce.bytes), .integer(lease), .string(request.inbox ?? ""),
                        .integer(request.refresh ? 1 : 0), .integer(request.since ?? -1),
                        .integer(request.maximumAge.map(\.wholeMilliseconds) ?? -1), .bytes(request.missingBody ?? []),
                    ]))
        }
    }

    /// Extends leases, and with them their locks. Returns the tokens whose lease is lost.
    package func renew(_ tokens: [LockToken], lease: Duration) async throws(StateError) -> Set<LockToken> {
        if tokens.isEmpty { return [] }
        let arguments = [.integer(try ClaimRequest.milliseconds(ofLease: lease))] + tokens.map { RedisArgument.bytes($0.bytes) }
        return try await StateError.mapping {
            let lost = try await run(ClusterScripts.renew, arguments).asArray()
            return Set(try lost.map { LockToken(try $0.asBytes()) })
        }
    }

    /// Takes a place for a job's request at the host that a redirect has led it to, and gives up the request's earlier place. A repeated
    /// call changes nothing.
    /// - Parameter usual: The politeness towards hosts for which no rule is stored.
    func move(_ token: LockToken, to host: String, usual: HostRule) async throws(StateError) -> Passage {
        try usual.check()
        return try await StateError.mapping {
            let reply = try await run(
                ClusterScripts.move,
                [.bytes(token.bytes), .string(host), .integer(usual.limit), .integer(usual.interval.wholeMilliseconds)])
            let fields = try reply.fields(2, of: "move")
            let pause = try fields[1].asInteger()
            switch try fields[0].asInteger() {
            case 1: return .there
            case 2: return .full(opensIn: pause < 0 ? nil : .milliseconds(pause))
            case 3: return .hopeless
            default: return .lost
            }
        }
    }

    /// Ends locks of callers without a job, for `commit` and `release` of the shared tier.
    package func settle(_ settlements: [Settlement], random: Double) async throws(StateError) -> [SettleAnswer] {
        try await settle(settlements, count: keys.count, claimsAgain: true, mostDead: 1, hostPatience: .zero, random: random)
    }

    func settle(
        _ settlements: [Settlement], count: RedisArgument, claimsAgain: Bool, mostDead: Int, hostPatience: Duration,
        random: Double
    ) async throws(StateError) -> [SettleAnswer] {
        if settlements.isEmpty { return [] }
        guard settlements.count <= Settlement.mostAtOnce else { throw .invalid("At most \(Settlement.mostAtOnce) jobs end in one call.") }
        var arguments: [RedisArgument] = [
            .integer(claimsAgain ? 1 : 0), .string("\(min(1, max(0, random)))"), .integer(mostDead),
            .integer(hostPatience.wholeMilliseconds),
        ]
        arguments.reserveCapacity(4 + settlements.count * 4)
        for settlement in settlements { settlement.append(to: &arguments) }
        return try await StateError.mapping {
            try await run(ClusterScripts.settle, count: count, arguments).asArray().map {
                guard let answer = SettleAnswer(rawValue: try $0.asInteger()) else { throw RedisError.form(of: "settle") }
                return answer
            }
        }
    }

    /// The outcome of a URL as Redis keeps it. It may be stale, or be meant only for earlier callers.
    package func outcome(_ id: URLID) async throws(StateError) -> URLOutcome? {
        try await StateError.mapping {
            try Self.outcome(await connection.send(RedisCommand("GET", keys.outcome(id))), "The outcome of this URL")
        }
    }

    /// The outcomes of URLs, in the order of `ids`; `nil` for a URL without an outcome. The caller must have room for all of them.
    package func outcomes(_ ids: [URLID]) async throws(StateError) -> [URLOutcome?] {
        try await StateError.mapping {
            let replies = await connection.pipeline(ids.map { RedisCommand("GET", keys.outcome($0)) })
            return try replies.map { try Self.outcome($0.get(), "The outcome of a URL") }
        }
    }

    private static func outcome(_ reply: RedisReply, _ name: String) throws -> URLOutcome? {
        guard let bytes = try reply.asOptionalBytes() else { return nil }
        guard let outcome = URLOutcome(bytes) else { throw StateError.newerFormat(name) }
        return outcome
    }

    /// Deletes the outcome of a URL. A fetch that is under way still writes its outcome.
    package func removeOutcome(_ id: URLID) async throws(StateError) {
        try await StateError.mapping { _ = try await connection.send(RedisCommand("DEL", keys.outcome(id))) }
    }

    /// Stores how many requests a host may have in flight, and the pause between two. The stored rule outranks the workers' settings; `nil`
    /// removes it.
    package func setRule(_ rule: HostRule?, for host: String) async throws(StateError) {
        try rule?.check()
        try await StateError.mapping {
            let command =
                if let rule {
                    RedisCommand("HSET", keys.rules, .string(host), .string("\(rule.limit) \(rule.interval.wholeMilliseconds)"))
                } else {
                    RedisCommand("HDEL", keys.rules, .string(host))
                }
            _ = try await connection.send(command)
        }
    }
}

/// Whether a job's request may go on at the host that a redirect has led it to.
package enum Passage: Sendable, Equatable {
    /// The job has a place at the new host, and has given up the earlier one.
    case there
    /// The new host has no room, and the job keeps its earlier place. The value is the time until there may be room, where that is known.
    case full(opensIn: Duration?)
    /// The new host has taken no connection for so long that no job waits for it.
    case hopeless
    /// The lease has ended, and the place with it.
    case lost
}

/// The politeness towards a host: how many requests at once, and how soon after each other.
package struct HostRule: Sendable, Equatable {
    /// Requests in flight at once, from all workers together.
    package var limit: Int

    /// The time from the start of one request to the start of the next.
    package var interval: Duration

    package static let highestLimit = 10_000
    package static let longestInterval = Duration.seconds(24 * 3600)

    package init(limit: Int, interval: Duration = .zero) {
        self.limit = limit
        self.interval = interval
    }

    func check() throws(StateError) {
        guard (1...Self.highestLimit).contains(limit) else {
            throw .invalid("A host's limit is 1 to \(Self.highestLimit) requests; \(limit) is not.")
        }
        guard .zero...Self.longestInterval ~= interval else { throw .invalid("The pause between two requests to a host is 0 to 24 hours.") }
    }
}
