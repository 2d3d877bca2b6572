internal import GannetBase
internal import GannetHTTP
package import GannetQueue

/// The job that a report is about, in a form that logs may show.
package struct JobLabel: Sendable, Equatable {
    private let text: String
    private let mayHaveSecrets: Bool

    package let id: URLID?

    /// The name of the job's batch, if it is known.
    package let batch: String?

    private let traceContext: TraceContext?

    /// The job's URL without credentials. Few labels are printed, so this is found out when somebody asks.
    package var url: String { mayHaveSecrets ? RedactedURL(text).description : text }

    /// The trace that the batch belongs to.
    package var trace: String? { traceContext?.traceID }

    /// - Parameter url: Without credentials.
    package init(url: String) { (text, mayHaveSecrets, id, batch, traceContext) = (url, false, nil, nil, nil) }

    init(_ job: Job) { (text, mayHaveSecrets, id, batch, traceContext) = (job.url, true, job.id, job.batchName, job.trace) }

    init(_ id: URLID, url: String) { (text, mayHaveSecrets, self.id, batch, traceContext) = (url, true, id, nil, nil) }

    /// A sentence about the job, with its URL.
    func named(in sentence: String) -> String {
        if url.isEmpty || sentence.contains(url) { return sentence }
        return "\(sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence) (\(url))."
    }
}
