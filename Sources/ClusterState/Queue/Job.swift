/// A URL to fetch, on lease to this process.
package struct Job: Sendable {
    package let url: String
    package let id: URLID

    /// Whose limits it comes under.
    package let host: String

    /// Workers that died holding it before, and attempts that failed.
    package let crashes: Int
    package let failures: Int

    /// For how long its host has been putting it off.
    package let throttled: Duration

    /// The lease, without which no outcome is accepted.
    package let token: FlightToken

    /// What its request carries; `nil` where that is not known any more, and the job cannot be fetched.
    package let headers: RequestHeaders?

    /// What its producer called the batch it came with; `nil` where nothing is known of that any more.
    package let batch: String?

    /// The trace that the batch belongs to.
    package let trace: TraceContext?

    /// The outcome that is there already, when only the body has to be delivered.
    package let page: Page?

    /// An answer from before, too old for this job.
    package let stale: Page?

    init(_ job: LeasedJob) {
        url = job.entry.url
        id = job.entry.id
        host = job.entry.host
        crashes = job.crashes
        failures = job.failures
        throttled = job.throttled
        token = job.token
        headers = job.headers
        batch = job.batchName
        trace = job.trace
        page = job.page
        stale = job.stale
    }
}
