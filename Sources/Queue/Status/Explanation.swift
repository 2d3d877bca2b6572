internal import GannetRedisClient

/// The outcome, the lock and the host of a URL, at one moment. Times are in queue time, ms.
package struct Explanation: Sendable, Equatable {
    package let now: Int
    package let outcome: URLOutcome?

    /// The record of a URL that is being fetched, or waits for its next attempt.
    package let holder: URLLock?

    /// How long the URL is held, unless the lease is renewed. At zero the next caller takes the URL over.
    package let heldFor: Duration

    /// How many jobs wait for the outcome, or for the next attempt.
    package let followers: Int

    package let standing: HostStanding

    /// The time within which the host answers or is given up; `nil` where it is not in trouble, or where nobody knows that.
    package let givenUpWithin: Duration?
}

extension Explanation {
    /// How many processes with callers wait for the outcome.
    package var waiters: Int { holder.map { $0.interested.count - $0.followers.count } ?? 0 }

    /// How long no request starts at the host, because of a cool-down or of the pause between two requests.
    package var coolsFor: Duration? { standing.restsUntil > now ? .milliseconds(standing.restsUntil - now) : nil }
    package var startsIn: Duration? { standing.nextStart > now ? .milliseconds(standing.nextStart - now) : nil }

    /// How long the URL waits for its next attempt; `nil` where it does not wait.
    package var retriesIn: Duration? {
        guard let holder, holder.kind == .retry else { return nil }
        return .milliseconds(max(0, holder.began - now))
    }
}

extension ClusterState {
    /// Reads the outcome, the lock and the host of a URL. Others may be at work meanwhile: the explanation is about what was read first.
    package func explain(_ id: URLID, host: String) async throws(StateError) -> Explanation {
        try await StateError.mapping {
            let keys = partition(of: host).keys
            let commands = [
                RedisCommand("GET", keys.outcome(id)), RedisCommand("HGET", keys.locks, .bytes(id.bytes)), HostStanding.command(host, keys),
                RedisCommand("HGET", keys.state, "clock"),
            ]
            let (now, replies) = try await answers(to: commands, in: partition(of: host))
            let lock = try replies[1].asOptionalBytes().flatMap { URLLock($0) }
            let followers = lock?.followers ?? []
            let lists = try await look(at: followers.map { keys.followers(id.bytes, of: $0.queue) })
            let score = RedisCommand("ZSCORE", keys.leases, .bytes(lock?.token.incarnation.bytes ?? []))
            let end = try await connection.send(score).asOptionalString().flatMap { Int($0) } ?? 0
            let lived = Self.leaseTime(inClock: try replies[3].asOptionalBytes() ?? [])
            let heldFor = lock.map { Duration.milliseconds(max(0, min($0.deadline, end) - lived)) } ?? .zero
            let standing = try HostStanding(replies[2], of: host, at: now)
            let waiting = WaitingHost(host, standing, at: now)
            let asking = Set(lock?.queues ?? [])
            let workers = waiting == nil ? [:] : try await workers(of: knownQueues())
            let patience = Self.patience(with: host, of: workers) { asking.contains($0) }
            return Explanation(
                now: now, outcome: try replies[0].asOptionalBytes().flatMap { URLOutcome($0) }, holder: lock, heldFor: heldFor,
                followers: lists.reduce(0) { $0 + $1.length }, standing: standing,
                givenUpWithin: waiting.flatMap { patience?.left(of: $0) })
        }
    }
}
