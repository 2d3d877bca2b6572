internal import ClusterState
internal import GannetBasics
internal import HTTPEngine

/// Which job a report is about, as logs may show it.
package struct JobLabel: Sendable, Equatable {
    /// Without credentials.
    package let url: String

    /// The URL's, as `gannet explain` shows it.
    package var id: String?

    /// The name of what it was enqueued with, where that is known.
    package var batch: String?

    /// The trace that the batch belongs to.
    package var trace: String?

    /// - Parameter url: Without credentials.
    package init(url: String) { self.url = url }

    init(_ job: Job) {
        self.init(url: RedactedURL(job.url).description)
        id = job.id.bytes.hexadecimal
        batch = job.batchName
        trace = job.trace?.traceID
    }

    init(_ id: URLID, url: String) {
        self.init(url: RedactedURL(url).description)
        self.id = id.bytes.hexadecimal
    }
}
