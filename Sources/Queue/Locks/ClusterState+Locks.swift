internal import GannetRedisClient

/// Locks and outcomes of URLs, for jobs and for callers without one.
extension ClusterState {
    /// The outcome of a URL, or the right to fetch it.
    package func acquire(_ request: AcquireRequest) async throws(StateError) -> AcquireAnswer {
        let lease = try ExchangeRequest.milliseconds(ofLease: request.lease)
        let partition = partition(of: request.host)
        return try await StateError.mapping {
            try await AcquireAnswer(
                run(
                    scripts.acquire, in: partition,
                    [
                        .bytes(request.id.bytes), .bytes(request.incarnation.bytes), .integer(lease),
                        .integer(request.longestHold.wholeMilliseconds), .string(request.inbox.map { inbox(of: $0, in: partition) } ?? ""),
                        .integer(request.refresh ? 1 : 0),
                        .integer(request.since ?? -1), .integer(request.maximumAge.map(\.wholeMilliseconds) ?? -1),
                        .bytes(request.missingBody ?? []), .bytes(Incarnation(request.nonce).bytes),
                    ]))
        }
    }

    /// Tells of those that have come for a URL since it was locked: whether queues have jobs for it, and the channels of callers without a
    /// job. There are none where the lock is not this one any more.
    package func waiting(
        for id: URLID, _ token: LockToken, in partition: Partition
    ) async throws(StateError) -> (hasJobs: Bool, channels: [String]) {
        try await StateError.mapping {
            let reply = try await connection.send(RedisCommand("HGET", partition.keys.locks, .bytes(id.bytes)))
            guard let lock = try reply.asOptionalBytes().flatMap({ URLLock($0) }), lock.token == token else { return (false, []) }
            let channels = lock.interested.compactMap { if case .channel(let channel) = $0 { channel } else { nil } }
            return (!lock.followers.isEmpty, channels)
        }
    }

    /// Takes a place at a host for the request of a caller without a job. A repeated call changes nothing.
    /// - Parameters:
    ///   - id: Random, and the same in `Settlement.Outcome.leftPlace`, which gives the place back.
    ///   - usual: The politeness towards hosts for which no rule is stored.
    package func enter(
        _ host: String, _ id: URLID, _ incarnation: Incarnation, usual: HostRule, lease: Duration
    ) async throws(StateError) -> Passage {
        try usual.check()
        let lease = try ExchangeRequest.milliseconds(ofLease: lease)
        return try await StateError.mapping {
            try await place(id, .ofPlace(incarnation), at: host, usual, lease, "take", partition(of: host))
        }
    }

    fileprivate func place(
        _ id: URLID, _ token: LockToken, at host: String, _ usual: HostRule, _ lease: Int, _ part: String, _ partition: Partition
    ) async throws -> Passage {
        let reply = try await run(
            scripts.place, in: partition,
            [
                .bytes(id.bytes), .bytes(token.bytes), .string(host), .integer(usual.limit), .integer(usual.interval.wholeMilliseconds),
                .string(part), .integer(lease), .integer(usual.first),
            ])
        let fields = try reply.fields(2, of: "place")
        let pause = try fields[1].asInteger()
        switch try fields[0].asInteger() {
        case 1: return .there
        case 2: return .full(opensIn: pause < 0 ? nil : .milliseconds(pause))
        case 3: return .hopeless
        default: return .lost
        }
    }

    /// The outcome of a URL as Redis keeps it. It may be stale, or be meant only for earlier callers.
    package func outcome(_ id: URLID, host: String) async throws(StateError) -> URLOutcome? {
        try await outcomes([id], in: partition(of: host))[0]
    }

    /// The outcomes of URLs of a partition, in the order of `ids`; `nil` for a URL without an outcome. The caller must have room for all of
    /// them.
    package func outcomes(_ ids: [URLID], in partition: Partition) async throws(StateError) -> [URLOutcome?] {
        try await StateError.mapping {
            let replies = await connection.pipeline(ids.map { RedisCommand("GET", partition.keys.outcome($0)) })
            return try replies.map { try $0.get().asOptionalBytes().flatMap { URLOutcome($0) } }
        }
    }

    /// The outcome of a URL whose host is not known; `nil` for a URL without one.
    package func outcome(_ id: URLID) async throws(StateError) -> URLOutcome? {
        try await StateError.mapping {
            let replies = await connection.pipeline(partitions.map { RedisCommand("GET", $0.keys.outcome(id)) })
            for reply in replies {
                if let outcome = try reply.get().asOptionalBytes().flatMap({ URLOutcome($0) }) { return outcome }
            }
            return nil
        }
    }

    /// Deletes the outcome of a URL. A fetch that is under way still writes its outcome.
    package func removeOutcome(_ id: URLID, host: String) async throws(StateError) {
        try await StateError.mapping { _ = try await connection.send(RedisCommand("DEL", partition(of: host).keys.outcome(id))) }
    }
}

extension FetchQueue {
    /// Gives up the place of a job's request, and takes one for it at the host that a redirect has led it to. A repeated call changes nothing.
    /// - Parameter usual: The politeness towards hosts for which no rule is stored.
    package func move(_ job: Job, to host: String, usual: HostRule, lease: Duration) async throws(StateError) -> Passage {
        try usual.check()
        let lease = try ExchangeRequest.milliseconds(ofLease: lease)
        let (partition, target) = (cluster.partitions[job.partition], cluster.partition(of: host))
        return try await persistently {
            func call(_ part: String, _ partition: Partition) async throws -> Passage {
                try await cluster.place(job.id, job.token, at: host, usual, lease, part, partition)
            }
            if target == partition { return try await call("both", partition) }
            // Two steps, each of which may be repeated.
            let passage = try await call("take", target)
            let left = try await call("leave", partition)
            return left == .there ? passage : left
        }
    }
}

/// Whether a request may go on at a host: at that to which a redirect has led a job, or at that of a caller without a job.
package enum Passage: Sendable, Equatable {
    /// The request has a place at the host, and none at an earlier one.
    case there
    /// The host has no room, and the request has no place at all. The value is the time until there may be room, where that is known.
    case full(opensIn: Duration?)
    /// The host is given up, because it does not answer.
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

    /// How many of them a host has before it answers. Each answer doubles them, up to the limit.
    package var first: Int

    package static let highestLimit = 10_000
    package static let longestInterval = Duration.seconds(24 * 3600)

    package init(limit: Int, interval: Duration = .zero, first: Int = 1) {
        self.limit = limit
        self.interval = interval
        self.first = first
    }

    func check() throws(StateError) {
        guard (1...Self.highestLimit).contains(limit) else {
            throw .invalid("A host's limit is 1 to \(Self.highestLimit) requests; \(limit) is not.")
        }
        guard .zero...Self.longestInterval ~= interval else { throw .invalid("The pause between two requests to a host is 0 to 24 hours.") }
    }
}
