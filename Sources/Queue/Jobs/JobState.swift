internal import GannetRedisClient

/// The state of a job that has not ended, or that was given up.
package enum JobState: String, Sendable, CaseIterable {
    /// The job waits for a worker, or for its host to have room.
    case ready
    /// A worker holds the job.
    case active
    /// The job waits for another fetch of the same URL.
    case parked
    /// The job waits for a time: for its retry, or for the delay that it was enqueued with.
    case delayed
    /// The job was given up.
    case dead
}

/// A filter for the jobs of one state.
package struct JobFilter: Sendable, Equatable {
    /// Only jobs of this host.
    package var host: String?
    /// Only jobs that were given up with one of these error classes; empty for all. Jobs in other states have none. `http-5xx` stands for a
    /// hundred of them.
    package var errorClasses: [String] = []
    /// Only jobs of the batch with this number.
    package var batch: Int?
    /// Only jobs of this URL.
    package var url: URLID?
    /// Only jobs with this text in their URLs. Capital letters count as small ones.
    package var text: String?

    package init(host: String? = nil, errorClass: String? = nil) {
        self.host = host
        if let errorClass { errorClasses = [errorClass] }
    }
}

extension JobFilter {
    package func matches(errorClass found: String?) -> Bool {
        errorClasses.isEmpty
            || errorClasses.contains { wanted in
                guard wanted.hasSuffix("xx") else { return found == wanted }
                return found?.count == wanted.count && found?.hasPrefix(wanted.dropLast(2)) == true
            }
    }

    /// Whether a job has to be looked at by itself, because jobs of one block may differ.
    var looksAtEach: Bool { url != nil || text != nil }

    /// Whether a job of the right host, class and batch is listed.
    func lists(_ entry: JobEntry?) -> Bool {
        if let url, url != entry?.id { return false }
        return text.map { entry?.url.hasPart($0) ?? false } ?? true
    }
}

/// Jobs to look at, or to change.
package struct JobSelection: Sendable, Equatable {
    package var state: JobState
    package var filter: JobFilter

    package init(_ state: JobState, _ filter: JobFilter = .init()) {
        self.state = state
        self.filter = filter
    }
}

/// A job in a listing, for people who look after the queue.
package struct ListedJob: Sendable {
    package let state: JobState
    package let entry: JobEntry

    /// The number of its batch.
    package let batch: Int

    /// When the job was enqueued or put back, in queue time, ms.
    package let enqueued: Int

    /// How many workers died with the job's URL, and how many attempts failed, as far as the URL has a record.
    package let crashes: Int
    package let failures: Int

    /// When the job was handed out, falls due, or was given up; `nil` for a job that waits for no time.
    package let at: Int?

    /// Why the job was given up, where that is still known.
    package let error: OutcomeContent?

    /// Since when the URL is put off without a charge; `nil` for a job that is not.
    var putOffSince: Int?

    /// When the job was listed.
    var listed = 0

    /// The name of its batch; `nil` for a batch that is remembered no longer.
    package internal(set) var batchName: String?

    /// The time within which a waiting job is asked for or given up, alone or with its host; `nil` where it waits for neither, or nobody knows.
    package internal(set) var givenUpWithin: Duration?
}

extension ListedJob {
    package var age: Duration { .milliseconds(max(0, listed - enqueued)) }

    /// How long ago the job was handed out or given up. Below zero, how long the job still has to wait. `nil` for a job that waits for no
    /// time.
    package var since: Duration? { at.map { .milliseconds(listed - $0) } }
}

/// The position where a listing goes on. Its text is opaque to callers. Of active and dead jobs, only the element counts.
package struct JobCursor: Sendable, Equatable {
    var partition: Int
    /// The number of the priority; zero before the first.
    var priority: Int
    /// The list in its priority: the ready blocks, and then the timers in their order.
    var list: Int
    var element: Int
    /// The job in the element.
    var job: Int
    /// Tells the list from another that has come there since.
    var mark: Int

    /// Without numbers it is the beginning of a listing.
    package init(partition: Int = 0, priority: Int = 0, list: Int = 0, element: Int = 0, job: Int = 0, mark: Int = 0) {
        (self.partition, self.priority, self.list) = (partition, priority, list)
        (self.element, self.job, self.mark) = (element, job, mark)
    }

    package var text: String { [partition, priority, list, element, job, mark].map { "\($0)" }.joined(separator: "-") }

    /// `nil` for a text that is not the text of a cursor.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard parts.count == 6, parts.allSatisfy({ (0..<1 << 53).contains($0) }) else { return nil }
        self.init(partition: parts[0], priority: parts[1], list: parts[2], element: parts[3], job: parts[4], mark: parts[5])
        guard self.text == text else { return nil }
    }
}

extension String {
    /// Whether a text stands in this one, where ASCII letters count as equal in both cases.
    fileprivate func hasPart(_ text: String) -> Bool {
        func small(_ text: String) -> [UInt8] { text.utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 } }
        let (bytes, part) = (small(self), small(text))
        guard let first = part.first, part.count <= bytes.count else { return part.isEmpty }
        return (0...bytes.count - part.count).contains { bytes[$0] == first && bytes[$0..<$0 + part.count].elementsEqual(part) }
    }
}
