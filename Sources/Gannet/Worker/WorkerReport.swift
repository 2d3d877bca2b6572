package import BodyStores
package import ClusterState
internal import HTTPEngine

/// What a worker has to tell while it works.
package enum WorkerReport: Sendable {
    /// The body is in its place; `file` is its path within the folder, where bodies are files.
    case fetched(JobLabel, bytes: Int, file: String?)

    /// Its origin says that the body in its place is right.
    case revalidated(JobLabel, file: String?)

    /// The body was in its place already: fetched for another job, or before.
    case cached(JobLabel, file: String?)

    /// The URL had been fetched for another job, and its body is not here: it has to be fetched again.
    case bodyMissing(JobLabel)

    /// An attempt failed, and there will be another: after this time, or when the host has had its rest.
    case putOff(JobLabel, Postponement)

    /// Given up; the sentence names the URL. The class is a word for all failures of its kind.
    case failed(JobLabel, sentence: String, errorClass: String)

    /// Given up without a request: the URL failed this long ago, and that failure is remembered.
    case skipped(JobLabel, failedAgo: Duration, errorClass: String)

    /// The lease was lost before the outcome was accepted: the job is another worker's now.
    case lost(JobLabel)

    /// Asked to stop while this many jobs are in flight; they have this long to end.
    case stopping(active: Int, limit: Duration)

    /// Given up without prejudice: another worker may have it.
    case handedBack(JobLabel)

    /// Left as it is, since Redis did not answer in time: it can be claimed again when its lease ends.
    case left(JobLabel)

    /// Jobs given up without a fetch of their own: three workers had died with them, their URL had failed for another job, or is none.
    case givenUp(Int)

    /// How far the queue has come, whoever works on it: told now and then.
    case progress(accepted: Int, ended: Int, waits: QueueWaits = QueueWaits())

    /// Nothing waits but jobs of another version.
    case foreign

    /// Redis cannot be reached and the worker waits, or it is back.
    case redis(RedisOutage)
}

/// Why an attempt was not the last.
package struct Postponement: Sendable, Equatable {
    /// Names the URL.
    package let sentence: String

    /// A word for all failures of its kind.
    package let errorClass: String

    /// Until the next; `nil` where the host's rest decides.
    package let pause: Duration?

    /// What is missing when it is no URL's fault.
    package var want: NetworkWant?
}

extension WorkerReport {
    static func putOff(_ job: Job, _ error: FetchError, _ pause: Duration?) -> Self {
        .putOff(
            JobLabel(job),
            Postponement(sentence: error.description, errorClass: error.className, pause: pause, want: NetworkWant(error)))
    }
    static func ledToFullHost(_ job: Job, _ host: String, _ pause: Duration) -> Self {
        let label = JobLabel(job)
        let sentence = "A redirect led to \(host.escapedForDisplay), which takes no more requests for now (\(label.url))."
        return .putOff(label, Postponement(sentence: sentence, errorClass: hostFullClass, pause: pause))
    }
    static func failed(_ job: Job, _ content: PageContent) -> Self {
        let label = JobLabel(job)
        let message = content.fields[.errorMessage] ?? "It could not be fetched for another job."
        let ending = message.hasSuffix(".") ? String(message.dropLast()) : message
        let sentence = message.contains(label.url) ? message : "\(ending) (\(label.url))."
        return .failed(label, sentence: sentence, errorClass: content.fields[.errorClass] ?? "unknown")
    }
    static func failed(_ job: Job, _ error: FetchError) -> Self {
        .failed(JobLabel(job), sentence: error.description, errorClass: error.className)
    }

    private static let hostFullClass = "host-full"
}

/// How a worker came to its end.
package enum WorkerEnd: Sendable, Equatable {
    /// Nothing was left to do.
    case empty
    /// Nothing was left but jobs of another version.
    case foreignLeft
    /// Asked to stop, and everything in flight had ended by itself.
    case drained
    /// Asked to stop, and what did not end in time was handed back.
    case handedBack
}

extension WorkerReport {
    package init(_ news: ExportNews) {
        self =
            switch news {
            case .written(let id, let url, let bytes, let file): .fetched(JobLabel(id, url: url), bytes: bytes, file: file)
            case .there(let id, let url, let file): .cached(JobLabel(id, url: url), file: file)
            case .failed(let id, let url, let sentence, let errorClass):
                .failed(JobLabel(id, url: url), sentence: sentence, errorClass: errorClass)
            }
    }
}
