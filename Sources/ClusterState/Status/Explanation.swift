internal import RedisClient

/// The outcome, the lock and the host of a URL, at one moment. Times are in queue time, ms.
package struct Explanation: Sendable, Equatable {
    /// The holder of the URL's lock.
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
        package let began: Int

        /// How long the lease lasts, unless it is renewed. At zero the next caller takes the URL over.
        package let left: Duration

        /// The job's queue and its batch's number.
        package let queue: String?
        package let batch: Int?
    }

    package let now: Int
    package let outcome: URLOutcome?

    /// A newer version wrote the outcome, so this version cannot read it.
    package let isOutcomeForeign: Bool
    package let holder: Holder?

    /// How many jobs, and how many processes with callers, wait for the outcome.
    package let followers: Int
    package let waiters: Int

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

    /// The rule that an operator stored for the host. It outranks the workers' settings.
    package let rule: HostRule?
}

extension Explanation {
    /// How long no request starts at the host, because of a cool-down or of the pause between two requests.
    package var coolsFor: Duration? { coolUntil > now ? .milliseconds(coolUntil - now) : nil }
    package var startsIn: Duration? { nextStart > now ? .milliseconds(nextStart - now) : nil }

    fileprivate init(_ reply: RedisReply) throws {
        let fields = try reply.fields(16, of: "an explanation")
        func number(_ index: Int) throws -> Int { try fields[index].asInteger() }
        let outcome = try fields[1].asBytes()
        let kind: Holder.Kind? =
            switch try fields[3].asString() {
            case "J": .worker
            case "A": .program
            case "W": .retry
            default: nil
            }
        let queue = try fields[6].asString()
        holder = try kind.map {
            Holder(
                kind: $0, began: try number(4), left: .milliseconds(try number(5)), queue: queue.isEmpty ? nil : queue,
                batch: queue.isEmpty ? nil : try number(7))
        }
        now = try number(0)
        self.outcome = URLOutcome(outcome)
        isOutcomeForeign = !outcome.isEmpty && self.outcome == nil
        (followers, waiters, running) = (try number(8), try number(9), try number(10))
        (nextStart, coolUntil, failures) = (try number(11), try number(12), try number(13))
        isProbing = try number(14) > 0
        isGivenUp = try number(14) == 2
        let rule = try fields[15].asString().split(separator: " ").compactMap { Int($0) }
        self.rule = rule.count == 2 ? HostRule(limit: rule[0], interval: .milliseconds(rule[1])) : nil
    }
}

extension ClusterState {
    /// Reads the outcome, the lock and the host of a URL in one step.
    package func explain(_ id: URLID, host: String) async throws(StateError) -> Explanation {
        try await StateError.mapping { try await Explanation(run(ClusterScripts.explain, [.bytes(id.bytes), .string(host)])) }
    }
}
