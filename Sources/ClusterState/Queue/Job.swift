internal import GannetBasics
internal import RedisClient

/// A URL to fetch, on lease to this process.
package struct Job: Sendable {
    /// Proof of the lease: an outcome is accepted only with this token.
    package let token: LockToken
    package let entry: JobEntry
    package let queue: String

    /// The batch's number.
    package let batch: Int

    /// The name that the producer gave the batch; `nil` where the batch's record is gone.
    package let batchName: String?

    /// The trace that the batch belongs to.
    package let trace: TraceContext?

    /// When the job was enqueued, in queue time.
    package let enqueued: Int

    /// How many workers died while they held the job.
    package let crashes: Int

    /// How many failed attempts were charged to the job.
    package let failures: Int

    /// How long the job's host has been putting it off, in queue time; zero for a job that was not put off.
    package let throttled: Duration

    /// The headers of the job's request. `nil` where the job was enqueued with headers that are gone. Such a job must not be fetched:
    /// without its headers the host may give another answer.
    package let headers: RequestHeaders?

    /// The outcome that is known already. A job that has one holds no lock and no place at its host: its body only has to be delivered.
    package let outcome: URLOutcome?

    /// An earlier outcome that is too old for this job. The fetch may ask the origin whether that outcome still holds.
    package let stale: URLOutcome?
}

extension Job {
    package var url: String { entry.url }
    package var id: URLID { entry.id }

    /// The host whose limits apply to the job.
    package var host: String { entry.host }

    private static let format = UInt8(ascii: "J")
    private static let formatWithHeaders = UInt8(ascii: "K")

    private static let lengthOfQueue = 19

    /// Reads only the URL's id, for a job whose URL is not valid UTF-8.
    static func id(of job: [UInt8]) -> URLID? {
        guard job.count > lengthOfQueue else { return nil }
        let lean = lengthOfQueue + 1 + Int(job[lengthOfQueue])
        return job.count > lean + 17 ? URLID(Array(job[lean + 1..<lean + 17])) : nil
    }

    /// Reads a job in the format `J` or `K` of `Scripts/Library/jobs.lua`; `nil` where its URL is not valid UTF-8.
    /// - Parameter batches: The known batches by their numbers.
    init?(token: LockToken, job: [UInt8], outcome: URLOutcome?, stale: URLOutcome? = nil, batches: [Int: LeasedBatch] = [:], now: Int) {
        var reader = ByteReader(job)
        guard let format = reader.number(1).map(UInt8.init), format == Self.format || format == Self.formatWithHeaders,
            let batch = reader.number(4), let enqueued = reader.number(6),
            let crashes = reader.number(1), let failures = reader.number(1), let throttled = reader.number(6),
            let length = reader.number(1), let queue = reader.bytes(length), let entry = JobEntry(reader.all())
        else { return nil }
        self.token = token
        self.entry = entry
        self.queue = String(decoding: queue, as: UTF8.self)
        self.batch = batch
        self.enqueued = enqueued
        self.crashes = crashes
        self.failures = failures
        self.throttled = throttled == 0 ? .zero : .milliseconds(max(0, now - throttled))
        let known = batches[batch]
        batchName = known?.name
        trace = known?.trace
        headers = format == Self.format ? RequestHeaders.none : known?.headers
        self.outcome = outcome
        self.stale = stale
    }
}

/// The part of a batch's record that a claim answers together with the batch's jobs.
struct LeasedBatch: Sendable, Equatable {
    /// The name that the producer gave the batch.
    let name: String?

    /// `nil` where the batch has no headers, and where its headers are gone or cannot be read.
    let headers: RequestHeaders?
    let trace: TraceContext?

    private static let fieldCount = 4

    /// Reads the batches of a claim's answer, by their numbers.
    static func byNumber(_ fields: [RedisReply]) throws(RedisError) -> [Int: LeasedBatch] {
        guard fields.count.isMultiple(of: fieldCount) else { throw .form(of: "claim") }
        var batches: [Int: LeasedBatch] = [:]
        for index in stride(from: 0, to: fields.count, by: fieldCount) {
            batches[try fields[index].asInteger()] = LeasedBatch(
                name: try fields[index + 1].asOptionalString(),
                headers: try fields[index + 2].asOptionalBytes().flatMap { RequestHeaders($0) },
                trace: try fields[index + 3].asOptionalString().flatMap { try? TraceContext($0) })
        }
        return batches
    }
}
