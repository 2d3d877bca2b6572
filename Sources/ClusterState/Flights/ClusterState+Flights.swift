internal import RedisClient

/// Flights, of jobs and of callers without one.
extension ClusterState {
    /// What there is for a URL, or the right to fetch it.
    package func acquire(_ request: AcquireRequest) async throws(StateError) -> AcquireAnswer {
        let lease = try ClaimRequest.milliseconds(ofLease: request.lease)
        let reply = try await run(
            ClusterScripts.acquire,
            [
                .bytes(request.id.bytes), .bytes(request.nonce.bytes), .integer(lease), .string(request.inbox ?? ""),
                .integer(request.refresh ? 1 : 0), .integer(request.since ?? -1),
                .integer(request.maximumAge.map(\.wholeMilliseconds) ?? -1), .bytes(request.missingBody ?? []),
            ])
        return try await StateError.wrapping { () throws(RedisError) in try AcquireAnswer.Unchecked(reply) }.checked()
    }

    /// Extends leases and the locks that go with them; returns those that are lost.
    package func renew(_ tokens: [FlightToken], lease: Duration) async throws(StateError) -> Set<FlightToken> {
        if tokens.isEmpty { return [] }
        let arguments = [.integer(try ClaimRequest.milliseconds(ofLease: lease))] + tokens.map { RedisArgument.bytes($0.bytes) }
        let reply = try await run(ClusterScripts.renew, arguments)
        return try await StateError.wrapping { () throws(RedisError) in
            var lost: Set<FlightToken> = []
            for token in try reply.asArray() { lost.insert(FlightToken(try token.asBytes())) }
            return lost
        }
    }

    /// Takes a place for a job's request at the host that a redirect has led it to, and gives up the one it has. The same again changes
    /// nothing.
    /// - Parameter usual: How politely hosts are treated for which no rule is stored.
    package func move(_ token: FlightToken, to host: String, usual: HostRule) async throws(StateError) -> Passage {
        try usual.check()
        let reply = try await run(
            ClusterScripts.move,
            [.bytes(token.bytes), .string(host), .integer(usual.limit), .integer(usual.interval.wholeMilliseconds)])
        return try await StateError.wrapping { () throws(RedisError) in
            let fields = try reply.asArray()
            guard fields.count == 2 else { throw RedisError(.unexpectedReply, "move in another form than expected") }
            let pause = try fields[1].asInteger()
            switch try fields[0].asInteger() {
            case 1: return .there
            case 2: return .full(opensIn: pause < 0 ? nil : .milliseconds(pause))
            default: return .lost
            }
        }
    }

    /// Ends flights that have no job: `commit` and `release` of the shared tier.
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
        let reply = try await run(ClusterScripts.settle, count: count, arguments)
        return try await StateError.wrapping { () throws(RedisError) in
            var answers: [SettleAnswer] = []
            for item in try reply.asArray() {
                guard let answer = SettleAnswer(rawValue: try item.asInteger()) else {
                    throw RedisError(.unexpectedReply, "settle in another form than expected")
                }
                answers.append(answer)
            }
            return answers
        }
    }

    /// The page of a URL, as it is, whoever may use it.
    package func page(_ id: URLID) async throws(StateError) -> Page? {
        let reply = try await send(RedisCommand("GET", keys.page(id)))
        let bytes = try await StateError.wrapping { () throws(RedisError) in try reply.asOptionalBytes() }
        guard let bytes else { return nil }
        guard let page = Page(bytes) else { throw .newerFormat("The page of this URL") }
        return page
    }

    /// The pages of URLs, in their order, `nil` for those of which nothing is known. As many as the caller has room for.
    package func pages(_ ids: [URLID]) async throws(StateError) -> [Page?] {
        let replies = await connection.pipeline(ids.map { RedisCommand("GET", keys.page($0)) })
        var pages: [Page?] = []
        pages.reserveCapacity(ids.count)
        for reply in replies {
            let bytes = try await StateError.wrapping { () throws(RedisError) in try reply.get().asOptionalBytes() }
            guard let bytes else {
                pages.append(nil)
                continue
            }
            guard let page = Page(bytes) else { throw .newerFormat("The page of a URL") }
            pages.append(page)
        }
        return pages
    }

    /// Forgets what is known of a URL. A flight that is under way writes its outcome all the same.
    package func removePage(_ id: URLID) async throws(StateError) { _ = try await send(RedisCommand("DEL", keys.page(id))) }

    /// Says how many requests a host may have in flight and how long to pause between two, whatever workers say; `nil` takes it back.
    package func setRule(_ rule: HostRule?, for host: String) async throws(StateError) {
        guard let rule else {
            _ = try await send(RedisCommand("HDEL", keys.rules, .string(host)))
            return
        }
        try rule.check()
        _ = try await send(RedisCommand("HSET", keys.rules, .string(host), .string("\(rule.limit) \(rule.interval.wholeMilliseconds)")))
    }
}

/// How politely a host is treated.
package struct HostRule: Sendable, Equatable {
    /// Requests in flight at once, from all workers together.
    package var limit: Int

    /// From the start of one request to that of the next.
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
