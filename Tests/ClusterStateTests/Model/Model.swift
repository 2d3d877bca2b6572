@testable import ClusterState

/// What has to hold, in memory: which jobs there are and what has become of them. Where a job lies is not in here: a look tells
/// that, and the model whether it may lie there.
struct Model {
    var jobs: [Int: ModelJob] = [:]
    var batches: [BatchKey: ModelBatch] = [:]
    /// Of the two queues, and of callers without one.
    var totals = [ModelTotals](repeating: ModelTotals(), count: 3)
    var isPaused = [false, false]
    /// Jobs were deleted, whose places and headings may still stand in their lines.
    var hasDeleted = false
    /// Dead jobs that were deleted since, by queue.
    var forgotten = [0, 0]
    var rules: [Int: HostRule] = [:]
    /// Hosts whose rule was changed while requests were in flight: a higher limit counts from when the next of them ends.
    var freshRules: Set<Int> = []
    /// What workers say of hosts without a rule.
    let usual: HostRule
    /// For how long, in ms, a host may take no connection.
    let hostPatience: Int
    /// What each worker's last claim brought, and how long that is remembered.
    var lastClaims: [Int: (nonce: Nonce, tokens: [Token], until: Int)] = [:]

    let hosts: Int

    func host(of url: Int) -> Int { url % hosts }
    /// Where a job's request is.
    func host(of flight: FlightLook) -> Int { flight.movedTo ?? host(of: flight.url) }
    func rule(of host: Int) -> HostRule { rules[host] ?? usual }
    func batch(of job: ModelJob) -> ModelBatch { batches[BatchKey(queue: job.record.queue, number: job.record.batch)]! }

    /// Ends a job.
    mutating func end(_ serial: Int, _ how: ModelJob.Fate) {
        jobs[serial]!.fate = how
        let record = jobs[serial]!.record
        let key = BatchKey(queue: record.queue, number: record.batch)
        switch how {
        case .done: batches[key]!.done += 1
        case .failed: batches[key]!.failed += 1
        case .cancelled, .tombstone: batches[key]!.cancelled += 1
        case .open, .dropped: preconditionFailure("That is no end.")
        }
    }
}

struct ModelJob {
    enum Fate {
        case open, done, failed, cancelled
        /// Cancelled, and still lying where it was.
        case tombstone
        /// Cancelled, and gone.
        case dropped
    }
    var record: JobRecord
    var fate = Fate.open
    /// Of one that is dead: nothing is kept of it.
    var isForgotten = false

    var isDead: Bool { fate == .failed && !isForgotten }
}

struct ModelBatch {
    let name: String
    var options: BatchOptions
    var state = BatchProgress.State.open
    var offset = 0
    var total = 0
    var done = 0
    var failed = 0
    var cancelled = 0
    /// Jobs that had failed and were put back in line.
    var revived = 0

    var isGone: Bool { state == .cancelled }

    /// Headers of its own for each batch that has any.
    static func headers(_ batch: Int) -> RequestHeaders {
        RequestHeaders(Array([1, 0, 1, 65, 0, 2] + "\(10 + batch % 90)".utf8))!
    }

    static func trace(_ batch: Int) -> TraceContext? {
        try? TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").child(UInt64(batch))
    }
}

/// Totals that cannot be told from where jobs are.
struct ModelTotals: Equatable {
    var fetched = 0
    var revalidated = 0
    var cached = 0
    var retried = 0
    var crashed = 0
    var fenced = 0
    var bytes = 0
}

/// Queue time and lease time, of which the second goes on in short steps only.
struct ModelClock: Equatable {
    var seen = 0
    var shift = 0
    var lived = 0
    var shortest = 0
    var tokens = 0
    var chains = 0

    static let longestStep = 5000

    /// How far lease time goes between two calls.
    var step: Int { shortest > 0 ? min(Self.longestStep, shortest / 3) : Self.longestStep }

    /// Both times in a call at a moment of the server's clock.
    func reading(_ wall: Int) -> (now: Int, lived: Int) {
        guard seen > 0 else { return (wall, 0) }
        return (wall + shift + max(0, seen - wall), lived + min(max(0, wall - seen), step))
    }
}

/// What is not as it has to be.
struct Violation: Error, CustomStringConvertible {
    let description: String

    static func require(_ isSo: Bool, _ sentence: @autoclosure () -> String) throws(Violation) {
        if !isSo { throw Violation(description: sentence()) }
    }

    static func equal<Value: Equatable>(_ real: Value, _ wanted: Value, _ what: @autoclosure () -> String) throws(Violation) {
        if real != wanted { throw Violation(description: "\(what()): is \(real), has to be \(wanted)") }
    }
}

/// One call between two looks.
struct Step {
    let before: StateLook
    let after: StateLook
    let now: Int
    let lived: Int
    /// The server's clock.
    let wall: Int
    /// Channels that heard something, with what.
    var heard: Set<Heard> = []
}

struct Heard: Hashable {
    let channel: Int
    let what: String
}
