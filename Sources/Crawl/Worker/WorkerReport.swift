internal import GannetBase
package import GannetHTTP
package import GannetQueue
package import Results

/// An event that a worker reports while it works.
package enum WorkerReport: Sendable {
    /// The body was fetched and is in its place. `file` is its path within the folder, if bodies are files.
    case fetched(JobLabel, bytes: Int, file: String?)

    /// The origin confirmed that the body in its place is current.
    case revalidated(JobLabel, file: String?)

    /// The body was in its place already, because the URL was fetched for another job or at an earlier time.
    case cached(JobLabel, file: String?)

    /// The URL was fetched for another job, but its body is not here. It has to be fetched again.
    case bodyMissing(JobLabel)

    /// An attempt failed, and another follows after a pause; `nil` for the host's cool-down. Such reports are rare, and large.
    indirect case putOff(JobLabel, FetchError, pause: Duration?)

    /// A redirect led to a host without a free place, and another attempt follows after a pause.
    case hostFull(JobLabel, host: String, pause: Duration)

    /// The job was given up. The sentence names the URL, and the class is a word for all failures of this kind.
    case failed(JobLabel, sentence: String, errorClass: String)

    /// The job was given up without a request, because its URL failed a short while ago.
    case skipped(JobLabel, RememberedFailure, errorClass: String)

    /// The lease was lost before Redis accepted the outcome. The job belongs to another worker now.
    case lost(JobLabel)

    /// Redis could not carry out the job's outcome, or only a part of it.
    case malformed(JobLabel)

    /// A stop was asked for while this many jobs are in flight. They have this long to end.
    case stopping(active: Int, limit: Duration)

    /// The worker hands back the jobs that it has, for a limited time.
    case handingBack(active: Int, limit: Duration)

    /// Somebody has asked the worker to drain, through Redis.
    case drainAsked

    /// The job was handed back without a charge. Another worker may claim it.
    case handedBack(JobLabel)

    /// The job was left as it is, because Redis did not answer in time. It can be claimed again when its lease ends.
    case left(JobLabel)

    /// The worker has ended without an answer of Redis, or of a part of it.
    case leftBehind(LeftBehind)

    /// Jobs that were given up because their URL is no text.
    case givenUp(Int)

    /// How far the queue has come, with all of its workers. Reported now and then.
    case progress(accepted: Int, ended: Int, waits: QueueWaits = QueueWaits())

    /// The jobs that are left are missing from their lists.
    case missing

    /// Bodies wait because Redis has no room for them, or have room again.
    case room(StoreRoom)

    /// The worker claims no more, because bodies of its so many jobs wait to be stored; `nil` says that it goes on.
    case standstill(Int?)

    /// How many requests the worker has in flight at most, where something else than its jobs keeps it from more. Reported when the reason
    /// is another than before.
    case places(Int, PlacesBound)

    /// Redis cannot be reached and the worker waits, or Redis is back.
    case redis(RedisOutage)
}

extension WorkerReport {
    /// The job that the report is about.
    var job: JobLabel? {
        switch self {
        case .fetched(let job, _, _), .revalidated(let job, _), .cached(let job, _), .bodyMissing(let job), .putOff(let job, _, _),
            .hostFull(let job, _, _), .failed(let job, _, _), .skipped(let job, _, _), .lost(let job), .malformed(let job),
            .handedBack(let job), .left(let job):
            job
        case .stopping, .handingBack, .drainAsked, .leftBehind, .givenUp, .progress, .missing, .room, .standstill, .places,
            .redis:
            nil
        }
    }

    /// The error class of an attempt that a full host put off.
    package static let hostFullClass = "host-full"

    /// - Parameter failure: For a job that is given up without a request, because of this failure.
    static func failed(_ job: Job, _ content: OutcomeContent, remembered failure: RememberedFailure? = nil) -> Self {
        let (label, errorClass) = (JobLabel(job), content.fields[.errorClass] ?? "unknown")
        if let failure { return .skipped(label, failure, errorClass: errorClass) }
        return .failed(label, sentence: label.named(in: content.failureSentence), errorClass: errorClass)
    }
}

/// The jobs, exchanges and record of an ending worker that Redis, or a part of it, did not take.
package struct LeftBehind: Sendable, Equatable {
    /// Jobs whose outcomes were not written, or that were not handed back. They come back when their leases end.
    package var jobs = 0

    /// Partitions with an exchange that was not answered.
    package var partitions: [Int] = []

    /// How many partitions there are.
    package var partitionCount = 1

    /// The worker's record is still there: a worker that leaves jobs keeps it, and Redis may be away. It goes ten minutes after the last
    /// heartbeat.
    package var isListed = false

    var isAnything: Bool { jobs > 0 || !partitions.isEmpty || isListed }
}

/// Why a worker ended.
package enum WorkerEnd: Sendable, Equatable {
    /// No jobs were left.
    case empty
    /// The jobs that were left are missing from their lists.
    case missing
    /// A stop was asked for, and all jobs in flight ended by themselves.
    case drained
    /// A stop was asked for, and the jobs that did not end in time were handed back.
    case handedBack
}

extension WorkerReport {
    /// How an export of a URL ended.
    /// - Parameter remembered: The failure of an earlier fetch, for which no request was made.
    package init(exported record: JobRecord, remembered: RememberedFailure?) {
        let label = JobLabel(record.id, url: record.url)
        if let remembered {
            self = .skipped(label, remembered, errorClass: record.errorClass)
        } else if record.isFailed {
            self = .failed(label, sentence: label.named(in: record.errorMessage), errorClass: record.errorClass)
        } else if record.outcome == .there {
            self = .cached(label, file: record.file)
        } else {
            self = .fetched(label, bytes: record.bytes, file: record.file)
        }
    }
}

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
