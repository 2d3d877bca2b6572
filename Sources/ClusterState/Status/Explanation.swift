internal import RedisClient

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

    /// A newer version wrote the outcome, so this version cannot read it.
    package let isOutcomeForeign: Bool
    package let holder: Holder?

    /// Jobs that wait for the outcome, or for the next attempt, by queue.
    package let followersByQueue: [Followers]

    /// Requests in flight to the host, from all workers.
    package let running: Int

    /// When the next request to the host may start: by the host's rate, and by its cool-down.
    package let nextStart: Int
    package let coolUntil: Int

    /// Failures to connect to the host, in a row.
    package let failures: Int

    /// A single request has to succeed before others may start.
    package let isProbing: Bool

    /// The host has taken no connection for too long: jobs that would have to wait for it fail.
    package let isGivenUp: Bool

    /// The operator's rule that holds for the host. It outranks the workers' settings.
    package let rule: OperatorRule?
}

extension Explanation {
    /// How many jobs, and how many processes with callers, wait for the outcome.
    package var followers: Int { followersByQueue.reduce(0) { $0 + $1.count } }
    package var waiters: Int { holder?.waiters ?? 0 }

    /// How long no request starts at the host, because of a cool-down or of the pause between two requests.
    package var coolsFor: Duration? { coolUntil > now ? .milliseconds(coolUntil - now) : nil }
    package var startsIn: Duration? { nextStart > now ? .milliseconds(nextStart - now) : nil }

    /// How long the URL waits for its next attempt; `nil` where it does not wait.
    package var retriesIn: Duration? {
        guard let holder, holder.kind == .retry else { return nil }
        return .milliseconds(max(0, holder.began - now))
    }

    fileprivate init(_ reply: RedisReply) throws {
        let fields = try reply.fields(6, of: "an explanation")
        now = try fields[0].asInteger()
        let outcome = try fields[1].asBytes()
        self.outcome = URLOutcome(outcome)
        isOutcomeForeign = !outcome.isEmpty && self.outcome == nil
        holder = try Holder(fields[2].asArray())
        let followers = try fields[3].asArray()
        followersByQueue = try stride(from: 0, to: followers.count - 1, by: 2).map {
            Followers(queue: try followers[$0].asString(), count: try followers[$0 + 1].asInteger())
        }
        let host = try fields[4].fields(5, of: "a host").map { try $0.asInteger() }
        (running, nextStart, coolUntil, failures) = (host[0], host[1], host[2], host[3])
        isProbing = host[4] > 0
        isGivenUp = host[4] == 2
        let rule = try fields[5].asArray()
        guard rule.count == 4 else {
            self.rule = nil
            return
        }
        let numbers = try rule[..<3].map { Int(try $0.asString()) }
        self.rule = OperatorRule(try rule[3].asString(), limit: numbers[0], interval: numbers[1], pausedUntil: numbers[2], now: now)
    }
}

extension Explanation.Holder {
    /// The kinds of locks, as `Scripts/Parts/locks.lua` writes them.
    private static let kinds: [String: Kind] = ["L": .worker, "A": .program, "W": .retry]

    /// `nil` where there is no lock, or one of a newer version.
    fileprivate init?(_ fields: [RedisReply]) throws {
        guard fields.count == 11, let kind = Self.kinds[try fields[0].asString()] else { return nil }
        func number(_ index: Int) throws -> Int { try fields[index].asInteger() }
        let queue = try fields[3].asString()
        let since = try number(8)
        self.init(
            kind: kind, began: try number(1), left: .milliseconds(try number(2)), queue: queue.isEmpty ? nil : queue,
            batch: queue.isEmpty ? nil : try number(4), failures: try number(5), crashes: try number(6), isSuspect: try number(7) == 1,
            throttledSince: since == 0 ? nil : since, lastFailure: OutcomeContent(try fields[9].asBytes()[...]), waiters: try number(10))
    }
}

extension ClusterState {
    /// Reads the outcome, the lock and the host of a URL in one step.
    package func explain(_ id: URLID, host: String) async throws(StateError) -> Explanation {
        try await StateError.mapping {
            try await Explanation(run(ClusterScripts.explain, in: partition(of: host), [.bytes(id.bytes), .string(host)]))
        }
    }
}
