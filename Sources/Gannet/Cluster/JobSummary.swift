internal import ClusterState
internal import HTTPEngine

/// A job as somebody sees it who looks after the queue.
package struct JobSummary: Sendable, Equatable {
    package let state: JobQuery.State

    /// Without credentials, and else as it is.
    package let url: String
    package let host: String

    /// How long ago it was enqueued.
    package let age: Duration

    /// How long ago it was handed out or given up, or, below zero, how long it has to wait; `nil` for one that waits for no time.
    package let since: Duration?

    /// Attempts that failed, and workers that died with it.
    package let failures: Int
    package let crashes: Int

    /// Why it was given up, where that is still known.
    package let errorClass: String?
    package let errorMessage: String?
    package let httpStatus: Int?

    init(_ job: ListedJob, _ state: JobQuery.State, now: Int) {
        self.state = state
        url = RedactedURL.withoutSecrets(job.entry.url)
        host = job.entry.host
        age = .milliseconds(max(0, now - job.enqueued))
        since = job.at.map { .milliseconds(now - $0) }
        failures = job.failures
        crashes = job.crashes
        errorClass = job.error?.fields[.errorClass]
        errorMessage = job.error?.fields[.errorMessage]
        httpStatus = job.error.flatMap { $0.status == 0 ? nil : $0.status }
    }
}

/// A part of a listing, and where the next goes on.
package struct JobListing: Sendable {
    package let jobs: [JobSummary]

    /// For ``Cluster/jobs(_:after:limit:)``; `nil` when this is the end.
    package let cursor: String?
}

/// What came of deleting jobs or putting them back in line.
package struct JobChange: Sendable, Equatable {
    package let count: Int

    /// Jobs that could not be put back: their batch was cancelled, or is not remembered.
    package let stuck: Int
}
