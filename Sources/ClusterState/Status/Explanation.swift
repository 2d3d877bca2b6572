internal import RedisClient

/// All that is known of a URL and its host at one moment. Times are queue time, ms.
package struct Explanation: Sendable, Equatable {
    /// The holder of the URL's lock.
    package struct Holder: Sendable, Equatable {
        package enum Kind: String, Sendable {
            /// A worker that fetches it for a job.
            case worker
            /// A program that fetches it for itself.
            case program
            /// Nobody: it waits for its next attempt.
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
    package let page: Page?

    /// There is an outcome, and a newer version wrote it.
    package let isPageForeign: Bool
    package let holder: Holder?

    /// Jobs and callers that wait for its outcome.
    package let followers: Int
    package let waiters: Int

    /// Requests in flight to the host, from all workers.
    package let running: Int

    /// When the next may start, by the host's rate and by its cool-down.
    package let nextStart: Int
    package let coolUntil: Int

    /// Failures to connect, in a row.
    package let failures: Int

    /// A single request has to succeed before others may start.
    package let isProbing: Bool

    /// The host has taken no connection for too long: jobs that would have to wait for it fail.
    package let isGivenUp: Bool

    /// An operator's rule, which outranks the workers' settings.
    package let rule: HostRule?
}

extension Explanation {
    /// How long nothing starts at the host because of a cool-down, or of the pause between two requests.
    package var coolsFor: Duration? { coolUntil > now ? .milliseconds(coolUntil - now) : nil }
    package var startsIn: Duration? { nextStart > now ? .milliseconds(nextStart - now) : nil }

    fileprivate init(_ reply: RedisReply) throws {
        let fields = try reply.fields(16, of: "an explanation")
        func number(_ index: Int) throws -> Int { try fields[index].asInteger() }
        let page = try fields[1].asBytes()
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
        self.page = Page(page)
        isPageForeign = !page.isEmpty && self.page == nil
        (followers, waiters, running) = (try number(8), try number(9), try number(10))
        (nextStart, coolUntil, failures) = (try number(11), try number(12), try number(13))
        isProbing = try number(14) > 0
        isGivenUp = try number(14) == 2
        let rule = try fields[15].asString().split(separator: " ").compactMap { Int($0) }
        self.rule = rule.count == 2 ? HostRule(limit: rule[0], interval: .milliseconds(rule[1])) : nil
    }
}

extension ClusterState {
    /// All that is known of a URL and its host.
    package func explain(_ id: URLID, host: String) async throws(StateError) -> Explanation {
        try await StateError.mapping { try await Explanation(run(ClusterScripts.explain, [.bytes(id.bytes), .string(host)])) }
    }
}
