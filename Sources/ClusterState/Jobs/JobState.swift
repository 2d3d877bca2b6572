/// Where a job is that has not ended, or was given up.
package enum JobState: String, Sendable, CaseIterable {
    /// Waiting for a worker, or for its host to have room.
    case ready
    /// In a worker's hands.
    case active
    /// Waiting for another job's fetch of the same URL.
    case parked
    /// Waiting for a time: a retry, or put off when it was enqueued.
    case delayed
    /// Given up.
    case dead
}

/// A choice among the jobs of a state.
package struct JobFilter: Sendable, Equatable {
    /// Of this host only, without a port.
    package var host: String?
    /// Given up for this class of reasons only; only dead jobs have one.
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

/// A job as people who look after the queue see it.
package struct ListedJob: Sendable {
    package let state: JobState
    package let entry: JobEntry

    /// The number of its batch.
    package let batch: Int

    /// When it was enqueued or put back, in queue time, ms.
    package let enqueued: Int
    package let crashes: Int
    package let failures: Int

    /// When it was handed out, falls due, or was given up; `nil` for a job that waits for no time.
    package let at: Int?

    /// Why it was given up, where that is still known.
    package let error: PageContent?
}

extension ListedJob {
    /// `nil` where the URL is no text.
    init?(_ state: JobState, _ bytes: [UInt8], at: Int? = nil, error: [UInt8] = []) {
        guard let job = Job(token: FlightToken([]), job: bytes, page: nil, now: 0) else { return nil }
        self.state = state
        entry = job.entry
        batch = job.batch
        enqueued = job.enqueued
        crashes = job.crashes
        failures = job.failures
        self.at = at
        self.error = PageContent(error[...])
    }

    /// How long ago it was enqueued.
    package func age(at now: Int) -> Duration { .milliseconds(max(0, now - enqueued)) }

    /// How long ago it was handed out or given up, or, below zero, how long it has to wait; `nil` for a job that waits for no time.
    package func since(at now: Int) -> Duration? { at.map { .milliseconds(now - $0) } }
}

/// The place where a listing goes on. Its text is opaque to callers.
package struct JobCursor: Sendable, Equatable {
    /// Its list by name, empty in states without one; a place in it, or Redis' own cursor.
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

    /// `nil` for a text that no cursor has.
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
