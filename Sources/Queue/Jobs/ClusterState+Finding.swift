internal import GannetBase
internal import GannetRedisClient

/// The first digits of the id of a URL, as people type them.
package struct URLIDPrefix: Sendable, Equatable {
    package let digits: String

    /// `nil` for a text that is no part of an id.
    package init?(_ text: String) {
        guard (1...2 * URLID.count).contains(text.utf8.count), text.utf8.allSatisfy({ $0.hexadecimalDigit != nil }) else { return nil }
        digits = text.lowercased()
    }

    func begins(_ id: URLID) -> Bool { id.bytes.hexadecimal.hasPrefix(digits) }

    /// The bytes whose digits are all known, escaped for a pattern of Redis.
    fileprivate var pattern: [UInt8] {
        let whole = [UInt8](hexadecimal: digits.utf8.prefix(digits.utf8.count / 2 * 2)) ?? []
        return whole.flatMap { byte in "*?[]\\^-".utf8.contains(byte) ? [UInt8(ascii: "\\"), byte] : [byte] }
    }
}

/// A search for the URLs whose ids begin with some digits, among the kept outcomes and the jobs of queues. The work is bounded.
package struct URLSearch: Sendable {
    private let cluster: ClusterState
    private let prefix: URLIDPrefix

    /// How many URLs match, as far as the search got.
    package var count: Int { seen.count }
    private var seen: Set<URLID> = []

    /// One of the matches: its URL as a job or an outcome has it, which may hold credentials.
    package private(set) var match: (id: URLID, url: String)?

    /// Whether the search ended before it had looked at everything.
    package private(set) var hasGivenUp = false

    /// How far a search goes: so many keys of the server, and so many jobs.
    package static let mostKeys = 1_000_000
    package static let mostJobs = 100_000
    private var keysLeft = mostKeys
    private var jobsLeft = mostJobs

    private static let keysAtOnce = 5000

    fileprivate init(_ cluster: ClusterState, _ prefix: URLIDPrefix) { (self.cluster, self.prefix) = (cluster, prefix) }
}

extension ClusterState {
    /// Finds URLs by the beginning of their ids.
    /// - Parameter queue: A queue to look at beside those that had workers lately.
    package func search(_ prefix: URLIDPrefix, queue: String) async throws(StateError) -> URLSearch {
        try await StateError.mapping {
            var search = URLSearch(self, prefix)
            try await search.lookAtOutcomes()
            for name in [queue] + (try await knownQueues()).filter({ $0 != queue }) { try await search.lookAtJobs(of: self.queue(name)) }
            return search
        }
    }
}

extension URLSearch {
    private mutating func note(_ id: URLID, _ url: String) {
        guard prefix.begins(id), seen.insert(id).inserted else { return }
        match = match ?? (id, url)
    }

    /// Outcomes are keys of their own, so a whole id is read at once. For a part of one the server's keys are gone through.
    fileprivate mutating func lookAtOutcomes() async throws {
        if prefix.digits.utf8.count == 2 * URLID.count, let bytes = [UInt8](hexadecimal: prefix.digits.utf8), let id = URLID(bytes) {
            return try await note(outcomesOf: cluster.partitions.map { ($0, id) })
        }
        let tags = cluster.partitions.map { (partition: $0, start: $0.keys.outcomes) }
        let pattern = Array("{\(cluster.namespace)*}outcome:".utf8) + prefix.pattern + [UInt8(ascii: "*")]
        for place in cluster.places { try await scan(at: place, pattern, tags) }
    }

    private mutating func scan(at place: RedisArgument, _ pattern: [UInt8], _ tags: [(partition: Partition, start: [UInt8])]) async throws {
        var cursor = "0"
        repeat {
            let page = try await cluster.page("SCAN", from: cursor, matching: .bytes(pattern), count: Self.keysAtOnce, at: place)
            cursor = page.next
            keysLeft -= Self.keysAtOnce
            // The pattern also matches namespaces with longer names.
            let found = try page.items.compactMap { key -> (Partition, URLID)? in
                let key = try key.asBytes()
                guard let tag = tags.first(where: { key.starts(with: $0.start) }), let id = URLID(Array(key.dropFirst(tag.start.count)))
                else { return nil }
                return (tag.partition, id)
            }
            try await note(outcomesOf: found.filter { prefix.begins($0.1) })
        } while cursor != "0" && keysLeft > 0
        if cursor != "0" { hasGivenUp = true }
    }

    private mutating func note(outcomesOf ids: [(Partition, URLID)]) async throws {
        let replies = try await cluster.answers(to: ids.map { RedisCommand("GET", $0.keys.outcome($1)) })
        for ((_, id), reply) in zip(ids, replies) {
            if let outcome = try reply.asOptionalBytes().flatMap(URLOutcome.init) { note(id, outcome.content.url) }
        }
    }

    fileprivate mutating func lookAtJobs(of queue: FetchQueue) async throws {
        for job in try await queue.active(JobSelection(.active)) { note(job.entry.id, job.entry.url) }
        for state in [JobState.delayed, .parked, .dead, .ready] {
            var walk = JobWalk(queue, JobSelection(state), from: JobCursor())
            while walk.next != nil {
                guard jobsLeft > 0 else {
                    hasGivenUp = true
                    return
                }
                let part = try await walk.look(limit: .max)
                // A part without a job costs a call too.
                jobsLeft -= max(part.count, FetchQueue.jobsAtOnce)
                for job in part.jobs { note(job.entry.id, job.entry.url) }
            }
        }
    }
}
