internal import GannetBasics
internal import RedisClient

/// A URL to fetch, on lease to this process.
package struct Job: Sendable {
    /// Proof of the lease, without which no outcome is accepted.
    package let token: FlightToken
    package let entry: JobEntry
    package let queue: String

    /// The batch's number.
    package let batch: Int

    /// What its producer called the batch; `nil` where the batch's record is gone.
    package let batchName: String?

    /// The trace that the batch belongs to.
    package let trace: TraceContext?

    /// When it was enqueued, in queue time.
    package let enqueued: Int

    /// Workers that died holding it.
    package let crashes: Int

    /// Attempts that failed and were charged to it.
    package let failures: Int

    /// For how long, in queue time, its host has been putting it off; zero for a job that was not put off.
    package let throttled: Duration

    /// The headers of its request. `nil` where it was enqueued with headers that are gone: then it must not be fetched, because without
    /// them another answer may come.
    package let headers: RequestHeaders?

    /// The outcome that is there already: the body only has to be delivered. No lock is held and no place at the host taken.
    package let page: Page?

    /// An answer from before, too old for this job: the fetch may ask whether it still holds.
    package let stale: Page?
}

extension Job {
    package var url: String { entry.url }
    package var id: URLID { entry.id }

    /// The host whose limits it comes under.
    package var host: String { entry.host }

    private static let format = UInt8(ascii: "J")
    private static let formatWithHeaders = UInt8(ascii: "K")

    private static let lengthOfQueue = 19

    /// The URL's id alone, where the URL is no text.
    static func id(of job: [UInt8]) -> URLID? {
        guard job.count > lengthOfQueue else { return nil }
        let lean = lengthOfQueue + 1 + Int(job[lengthOfQueue])
        return job.count > lean + 17 ? URLID(Array(job[lean + 1..<lean + 17])) : nil
    }

    /// Reads a job by itself, as `Scripts/Library/jobs.lua` describes it; `nil` where its URL is no text.
    /// - Parameter batches: The known batches by their numbers.
    init?(token: FlightToken, job: [UInt8], page: Page?, stale: Page? = nil, batches: [Int: LeasedBatch] = [:], now: Int) {
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
        self.page = page
        self.stale = stale
    }
}

/// What a claim tells of the batch of a job.
struct LeasedBatch: Sendable, Equatable {
    /// What its producer called it.
    let name: String?

    /// `nil` where there are none, or they are gone or cannot be read.
    let headers: RequestHeaders?
    let trace: TraceContext?

    private static let fieldCount = 4

    /// Batches by their numbers, as a claim answers them.
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
