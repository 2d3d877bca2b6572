internal import ClusterState
internal import GannetBasics
internal import HTTPEngine

/// The job that a report is about, in a form that logs may show.
package struct JobLabel: Sendable, Equatable {
    /// The job's URL without credentials.
    package let url: String

    /// The id of the URL, as `gannet explain` shows it.
    package var id: String?

    /// The name of the job's batch, if it is known.
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

    /// A sentence about the job, with its URL.
    func named(in sentence: String) -> String {
        if url.isEmpty || sentence.contains(url) { return sentence }
        return "\(sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence) (\(url))."
    }

    init(_ id: URLID, url: String) {
        self.init(url: RedactedURL(url).description)
        self.id = id.bytes.hexadecimal
    }
}
