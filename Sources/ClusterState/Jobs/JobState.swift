/// Where a job is that has not come to its end, or has come to a bad one.
package enum JobState: String, Sendable, CaseIterable {
    /// In a worker's hands.
    case active
    /// In line, or waiting for its host to have room.
    case ready
    /// Waiting for a time: a retry, or put off when it was enqueued.
    case delayed
    /// Waiting for another job's fetch of the same URL.
    case parked
    /// Given up.
    case dead
}

/// Which jobs of a state somebody asks for.
package struct JobFilter: Sendable, Equatable {
    /// Of this host only.
    package var host: String?
    /// Given up for this class of reasons only; the others have none.
    package var errorClass: String?

    package init(host: String? = nil, errorClass: String? = nil) {
        self.host = host
        self.errorClass = errorClass
    }
}

/// A job as somebody sees it who looks after the queue.
package struct ListedJob: Sendable {
    package let state: JobState
    package let entry: JobEntry

    /// The number of its batch.
    package let batch: Int

    /// When it was enqueued, in queue time, ms; for one that was put back in line, when that was.
    package let enqueued: Int
    package let crashes: Int
    package let failures: Int

    /// When it was handed out, falls due, or was given up; `nil` for one that waits for no time.
    package let at: Int?

    /// What was said of one that was given up.
    package let error: PageContent?
}

extension ListedJob {
    /// `nil` where the URL is no text.
    init?(_ state: JobState, _ bytes: [UInt8], at: Int? = nil, error: [UInt8] = []) {
        guard let job = LeasedJob(token: FlightToken([]), job: bytes, page: nil, now: 0) else { return nil }
        self.state = state
        entry = job.entry
        batch = job.batch
        enqueued = job.enqueued
        crashes = job.crashes
        failures = job.failures
        self.at = at
        self.error = PageContent(error[...])
    }
}
