internal import ClusterState
internal import FetchQueue
internal import HTTPEngine
internal import RedisClient

/// What a worker has to tell while it works.
package enum WorkerReport: Sendable {
    /// The body is in its place; `file` is its path within the folder, where bodies are files.
    case fetched(url: String, bytes: Int, file: String?)

    /// Its origin says that the body in its place is right.
    case revalidated(url: String, file: String?)

    /// The body was in its place already: fetched for another job, or before.
    case cached(url: String, file: String?)

    /// The URL had been fetched for another job, and its body is not here: it has to be fetched again.
    case bodyMissing(url: String)

    /// An attempt failed, and there will be another: after this time, or when the host has had its rest. With a want it is no URL's fault.
    case putOff(url: String, sentence: String, pause: Duration?, want: NetworkWant?)

    /// Given up; the URL is without credentials, the sentence names it. The class is a word for all failures of its kind.
    case failed(url: String, sentence: String, errorClass: String)

    /// The lease was lost before the outcome was accepted: the job is another worker's now.
    case lost(url: String)

    /// Asked to stop while this many jobs are in flight; they have this long to end.
    case stopping(active: Int, limit: Duration)

    /// Given up without prejudice: another worker may have it.
    case handedBack(url: String)

    /// Left as it is, since Redis did not answer in time: it can be claimed again when its lease ends.
    case left(url: String)

    /// Jobs given up without a fetch of their own: three workers had died with them, their URL had failed for another job, or is none.
    case givenUp(Int)

    /// How far the queue has come, whoever works on it: told now and then.
    case progress(accepted: Int, ended: Int, waits: QueueWaits = QueueWaits())

    /// Nothing waits but jobs of another version.
    case foreign

    /// Redis cannot be reached and the worker waits, or it is back.
    case redis(RedisOutage)
}

extension WorkerReport {
    static func lost(_ job: Job) -> Self { .lost(url: RedactedURL(job.url).description) }
    static func handedBack(_ job: Job) -> Self { .handedBack(url: RedactedURL(job.url).description) }
    static func left(_ job: Job) -> Self { .left(url: RedactedURL(job.url).description) }
    static func bodyMissing(_ job: Job) -> Self { .bodyMissing(url: RedactedURL(job.url).description) }
    static func putOff(_ error: FetchError, _ pause: Duration?) -> Self {
        .putOff(url: error.url.description, sentence: error.description, pause: pause, want: NetworkWant(error))
    }
    static func ledToFullHost(_ job: Job, _ host: String, _ pause: Duration) -> Self {
        let url = RedactedURL(job.url).description
        return .putOff(
            url: url, sentence: "A redirect led to \(host.escapedForDisplay), which takes no more requests for now (\(url)).", pause: pause,
            want: nil)
    }
    static func failed(_ job: Job, _ content: PageContent) -> Self {
        let url = RedactedURL(job.url).description
        let message = content.fields[.errorMessage] ?? "It could not be fetched for another job."
        let sentence = message.contains(url) ? message : "\(message.hasSuffix(".") ? String(message.dropLast()) : message) (\(url))."
        return .failed(url: url, sentence: sentence, errorClass: content.fields[.errorClass] ?? "unknown")
    }
    static func failed(_ error: FetchError) -> Self {
        .failed(url: error.url.description, sentence: error.description, errorClass: error.className)
    }
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

/// Why a worker cannot go on.
package enum WorkerFailure: Error, Sendable {
    case cluster(ClusterError)
    /// The folder cannot be written.
    case output(String)
    case settings(String)
}

extension WorkerFailure {
    static func wrapping(_ body: () async throws(ClusterError) -> Void) async throws(WorkerFailure) {
        do throws(ClusterError) {
            try await body()
        } catch {
            throw .cluster(error)
        }
    }
}
