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
    /// Only jobs of this host, without a port.
    package var host: String?
    /// Only jobs that were given up with this error class. Jobs in other states have none.
    package var errorClass: String?

    package init(host: String? = nil, errorClass: String? = nil) {
        self.host = host
        self.errorClass = errorClass
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
    package let crashes: Int
    package let failures: Int

    /// When the job was handed out, falls due, or was given up; `nil` for a job that waits for no time.
    package let at: Int?

    /// Why the job was given up, where that is still known.
    package let error: OutcomeContent?
}

extension ListedJob {
    /// `nil` where the URL is not valid UTF-8.
    init?(_ state: JobState, _ bytes: [UInt8], at: Int? = nil, error: [UInt8] = []) {
        guard let job = Job(token: LockToken([]), job: bytes, outcome: nil, now: 0) else { return nil }
        self.state = state
        entry = job.entry
        batch = job.batch
        enqueued = job.enqueued
        crashes = job.crashes
        failures = job.failures
        self.at = at
        self.error = OutcomeContent(error[...])
    }

    package func age(at now: Int) -> Duration { .milliseconds(max(0, now - enqueued)) }

    /// How long ago the job was handed out or given up. Below zero, how long the job still has to wait. `nil` for a job that waits for no
    /// time.
    package func since(at now: Int) -> Duration? { at.map { .milliseconds(now - $0) } }
}

/// The position where a listing goes on. Its text is opaque to callers.
package struct JobCursor: Sendable, Equatable {
    /// The name of the list, empty in states without lists, and the position to go on from.
    let list: [UInt8]
    let position: UInt64

    package var text: String {
        let name = list.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
        return "\(position)-\(name)"
    }

    init(list: [UInt8] = [], position: UInt64) {
        self.list = list
        self.position = position
    }

    /// The beginning of a listing.
    package init() { self.init(position: 0) }

    /// `nil` for a text that is not the text of a cursor.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, let position = UInt64(String(decoding: parts[0], as: UTF8.self)), position < 1 << 53,
            parts[1].count.isMultiple(of: 2), !text.utf8.contains(UInt8(ascii: "+"))
        else { return nil }
        var list: [UInt8] = []
        let digits = Array(parts[1])
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else { return nil }
            list.append(byte)
        }
        self.init(list: list, position: position)
    }
}

/// A part of a listing.
package struct JobListing: Sendable {
    package let jobs: [ListedJob]

    /// Queue time, ms.
    package let now: Int

    /// `nil` at the end.
    package let next: JobCursor?
}
