/// A job that a claim has handed out.
package struct LeasedJob: Sendable {
    package let token: FlightToken
    package let entry: JobEntry
    package let queue: String
    package let batch: Int

    /// What its producer called the batch; `nil` where nothing is known of it any more.
    package let batchName: String?

    /// The trace that the batch belongs to.
    package let trace: TraceContext?

    /// When it was enqueued, in queue time.
    package let enqueued: Int

    /// Workers that died holding it.
    package let crashes: Int

    /// Attempts that failed and were charged to it.
    package let failures: Int

    /// For how long, in queue time, its host has been putting it off; zero for one that was not.
    package let throttled: Duration

    /// What its request carries. `nil` where it was enqueued with headers that are not there any more: then it must not be fetched, for without
    /// them another answer may come.
    package let headers: RequestHeaders?

    /// The outcome that is there already: the body only has to be delivered. No lock is held and no place at the host taken.
    package let page: Page?

    /// An answer from before, too old for this job: what the fetch may ask by whether it still holds.
    package let stale: Page?
}

extension LeasedJob {
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
    /// - Parameter batches: What is known of them, by their numbers.
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
