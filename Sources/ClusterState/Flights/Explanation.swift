internal import RedisClient

/// All that is known of a URL and its host at one moment. Times are queue time, ms.
package struct Explanation: Sendable, Equatable {
    /// Who has the URL.
    package struct Holder: Sendable, Equatable {
        package enum Kind: String, Sendable {
            /// A worker that fetches it for a job.
            case job = "J"
            /// A program that fetches it for itself.
            case caller = "A"
            /// Nobody: it waits for its next attempt.
            case retry = "W"
        }

        package let kind: Kind
        package let began: Int

        /// How long the lease lasts, unless it is renewed. At zero the next who asks takes the URL over.
        package let left: Duration

        /// The job's queue and its batch's number.
        package let queue: String?
        package let batch: Int?
    }

    package let now: Int
    package let page: Page?

    /// There is a page, and a newer version wrote it.
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

    /// It has taken no connection for too long: what would have to wait for it fails.
    package let isGivenUp: Bool

    /// An operator's word.
    package let rule: HostRule?
}

extension ClusterState {
    /// All that is known of a URL and its host.
    package func explain(_ id: URLID, host: String) async throws(StateError) -> Explanation {
        let reply = try await run(ClusterScripts.explain, [.bytes(id.bytes), .string(host)])
        return try await StateError.wrapping { () throws(RedisError) in
            let fields = try reply.asArray()
            guard fields.count == 16 else { throw RedisError(.unexpectedReply, "an explanation in another form than expected") }
            var numbers: [Int: Int] = [:]
            for index in [0, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14] { numbers[index] = try fields[index].asInteger() }
            let number = { (index: Int) in numbers[index] ?? 0 }
            let page = try fields[1].asBytes()
            let queue = try fields[6].asString()
            let holder = Explanation.Holder.Kind(rawValue: try fields[3].asString()).map {
                Explanation.Holder(
                    kind: $0, began: number(4), left: .milliseconds(number(5)), queue: queue.isEmpty ? nil : queue,
                    batch: queue.isEmpty ? nil : number(7))
            }
            let rule = try fields[15].asString().split(separator: " ").compactMap { Int($0) }
            return Explanation(
                now: number(0), page: Page(page), isPageForeign: !page.isEmpty && Page(page) == nil, holder: holder, followers: number(8),
                waiters: number(9), running: number(10), nextStart: number(11), coolUntil: number(12), failures: number(13),
                isProbing: number(14) > 0, isGivenUp: number(14) == 2,
                rule: rule.count == 2 ? HostRule(limit: rule[0], interval: .milliseconds(rule[1])) : nil)
        }
    }
}
