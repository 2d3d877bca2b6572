internal import GannetBase
internal import GannetRedisClient

/// The outcome, the lock and the host of a URL, at one moment. Times are in queue time, ms.
package struct Explanation: Sendable, Equatable {
    /// The record of a URL that is being fetched, or waits for its next attempt.
    package struct Holder: Sendable, Equatable {
        package enum Kind: String, Sendable {
            /// A worker fetches the URL for a job.
            case worker
            /// A program fetches the URL for itself.
            case program
            /// Nobody fetches the URL: a job waits for its next attempt.
            case retry
        }

        package let kind: Kind

        /// When the fetch began, or when the next attempt may begin.
        package let began: Int

        /// How long the URL is held, unless the lease is renewed. At zero the next caller takes the URL over.
        package let left: Duration

        /// The job's queue and its batch's number.
        package let queue: String?
        package let batch: Int?

        /// Failed attempts that are charged to the URL, and workers that died with it.
        package let failures: Int
        package let crashes: Int

        /// A worker died with the URL, and no attempt has ended since.
        package let isSuspect: Bool

        /// Since when the URL's host puts it off; `nil` for a URL that was not put off.
        package let throttledSince: Int?

        /// How the last attempt ended.
        package let lastFailure: OutcomeContent?

        /// Processes with callers that wait for the outcome.
        package let waiters: Int
    }

    /// Jobs of a queue that wait for the URL.
    package struct Followers: Sendable, Equatable {
        package let queue: String
        package let count: Int
    }

    package let now: Int
    package let outcome: URLOutcome?

    package let holder: Holder?

    /// Jobs that wait for the outcome, or for the next attempt, by queue.
    package let followersByQueue: [Followers]

    package let standing: HostStanding

    /// The time within which the host answers or is given up; `nil` where it is not in trouble, or where nobody knows that.
    package let givenUpWithin: Duration?
}

extension Explanation {
    /// How many jobs, and how many processes with callers, wait for the outcome.
    package var followers: Int { followersByQueue.reduce(0) { $0 + $1.count } }
    package var waiters: Int { holder?.waiters ?? 0 }

    /// How long no request starts at the host, because of a cool-down or of the pause between two requests.
    package var coolsFor: Duration? { standing.restsUntil > now ? .milliseconds(standing.restsUntil - now) : nil }
    package var startsIn: Duration? { standing.nextStart > now ? .milliseconds(standing.nextStart - now) : nil }

    /// How long the URL waits for its next attempt; `nil` where it does not wait.
    package var retriesIn: Duration? {
        guard let holder, holder.kind == .retry else { return nil }
        return .milliseconds(max(0, holder.began - now))
    }

}

extension Explanation.Holder {
    /// - Parameters:
    ///   - end: When the lease of the lock's holder ends, in lease time.
    ///   - lived: Lease time.
    fileprivate init(_ lock: URLLock, end: Int, lived: Int) {
        kind =
            switch lock.kind {
            case .worker: .worker
            case .program: .program
            case .retry: .retry
            }
        began = lock.began
        left = .milliseconds(max(0, min(lock.deadline, end) - lived))
        queue = lock.queue.isEmpty ? nil : lock.queue
        batch = lock.queue.isEmpty ? nil : Block(lock.job)?.batch
        failures = lock.failures
        crashes = lock.crashes
        isSuspect = lock.flags & URLLock.Flags.suspect != 0
        throttledSince = lock.throttled == 0 ? nil : lock.throttled
        lastFailure = OutcomeContent(lock.failure)
        waiters = lock.interested.count - lock.followers.count
    }
}

extension ClusterState {
    /// Reads the outcome, the lock and the host of a URL. Others may be at work meanwhile: the explanation is about what was read first.
    package func explain(_ id: URLID, host: String) async throws(StateError) -> Explanation {
        try await StateError.mapping {
            let keys = partition(of: host).keys
            let commands =
                clock(of: partition(of: host)) + [
                    RedisCommand("GET", keys.outcome(id)), RedisCommand("HGET", keys.locks, .bytes(id.bytes)),
                    HostStanding.command(host, keys),
                ]
            let first = await connection.pipeline(commands)
            let now = try keys.naming { try Self.now(first) }
            let lived = try Self.leaseTime(first)
            let replies = try first.map { try $0.get() }
            let lock = try replies[3].asOptionalBytes().flatMap { URLLock($0) }
            let followers = lock?.followers ?? []
            let lists = try await look(at: followers.map { keys.followers(id.bytes, of: $0.queue) })
            let score = RedisCommand("ZSCORE", keys.leases, .bytes(lock?.token.incarnation.bytes ?? []))
            let end = try await connection.send(score).asOptionalString().flatMap { Int($0) } ?? 0
            let standing = try HostStanding(replies[4], of: host, at: now)
            let waiting = WaitingHost(host, standing, at: now)
            let asking = Set(followers.map(\.queue) + [lock?.queue].compactMap(\.self))
            let workers = waiting == nil ? [:] : try await workers(of: knownQueues())
            let patience = Self.patience(with: host, of: workers, at: now) { asking.contains($0) }
            return Explanation(
                now: now, outcome: try replies[2].asOptionalBytes().flatMap { URLOutcome($0) },
                holder: lock.map { Explanation.Holder($0, end: end, lived: lived) },
                followersByQueue: zip(followers, lists).map { Explanation.Followers(queue: $0.queue, count: $1.length) },
                standing: standing, givenUpWithin: waiting.flatMap { patience?.left(of: $0) })
        }
    }
}
