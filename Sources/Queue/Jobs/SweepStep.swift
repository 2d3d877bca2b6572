internal import GannetRedisClient

/// The changes of one step. Jobs are counted where they were, and the step rests on their batches' being under way.
struct SweepStep {
    let limit: Int
    var commit = Commit()
    var count = 0
    var stuck = 0
    /// How many of the things to look at were dealt with.
    var done = 0
    /// Elements of a list that stay behind the next part, and whether there is one.
    var behind = 0
    var isMore = false
    private var changes: [Int: [String: Int]] = [:]
    private var totals: [String: Int] = [:]

    /// Elements that Redis goes over to find others.
    var passed = 0

    private static let mostBytes = 1_000_000
    private static let mostPassed = 2_500_000

    init(limit: Int) { self.limit = limit }

    var left: Int { limit - count }
    var isFull: Bool { left == 0 || commit.byteCount > Self.mostBytes || passed > Self.mostPassed }

    mutating func count(_ by: Int, _ field: String, ofBatch number: Int) { changes[number, default: [:]][field, default: 0] += by }

    /// A failure that counts no more.
    mutating func forgive(_ job: DeadJob) {
        count(-1, "failed", ofBatch: job.block.batch)
        if job.error?.fields[.errorClass] == FailureCounts.disallowed { count(-1, "disallowed", ofBatch: job.block.batch) }
        totals[FailureCounts.field(of: job.error?.fields[.errorClass]), default: 0] -= 1
    }

    /// Jobs that end as cancelled.
    mutating func cancel(_ jobs: Int, of block: Block, in state: JobState) {
        count += jobs
        count(jobs, "cancelled", ofBatch: block.batch)
        if state != .ready { count(-jobs, state.rawValue, ofBatch: block.batch) }
    }

    /// Delayed jobs that are ready.
    mutating func hasten(_ jobs: Int, of block: Block) {
        count += jobs
        count(-jobs, JobState.delayed.rawValue, ofBatch: block.batch)
    }

    /// Adds what is counted, and what that rests on.
    mutating func finish(_ reader: JobReader) {
        for (number, fields) in changes.sorted(by: { $0.key < $1.key }) {
            let batch = reader.keys.batch(number, of: reader.queue.name)
            commit.check(reader.state(ofBatch: number) ?? [], "HGET", batch, "state")
            for (field, by) in fields.sorted(by: { $0.key < $1.key }) {
                for key in [batch, reader.keys.queue(reader.queue.name)] { commit.count(by, field, in: key) }
            }
        }
        for (field, by) in totals.sorted(by: { $0.key < $1.key }) { commit.count(by, field, in: reader.keys.queue(reader.queue.name)) }
    }
}
