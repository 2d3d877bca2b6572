@testable import ClusterState

/// The state as it has to be, in memory: which jobs there are, and how they ended. The model does not know where a job lies: a look tells
/// that, and the model checks whether the job may lie there.
struct Model {
    var jobs: [Int: ModelJob] = [:]
    var batches: [BatchKey: ModelBatch] = [:]
    /// The totals of the two queues, and of callers without a queue.
    var totals = [ModelTotals](repeating: ModelTotals(), count: 3)
    var isPaused = [false, false]
    /// Jobs were deleted, and marks and headings of theirs may still stand in their lists.
    var hasDeleted = false
    /// How many dead jobs were deleted since, by queue.
    var forgotten = [0, 0]
    var rules: [Int: HostRule] = [:]
    /// Hosts whose rule was changed while requests were in flight. A higher limit counts only when the next of these requests ends.
    var freshRules: Set<Int> = []
    /// The politeness that workers name for hosts without a rule.
    let usual: HostRule
    /// For how long, in ms, a host may take no connection.
    let hostPatience: Int
    /// The tokens of each worker's last claim, and how long Redis remembers them.
    var lastClaims: [Int: (nonce: Nonce, tokens: [Token], until: Int)] = [:]

    let hosts: Int

    func host(of url: Int) -> Int { url % hosts }
    /// The host where a job's request is.
    func host(of flight: FlightLook) -> Int { flight.movedTo ?? host(of: flight.url) }
    func rule(of host: Int) -> HostRule { rules[host] ?? usual }
    func batch(of job: ModelJob) -> ModelBatch { batches[BatchKey(queue: job.record.queue, number: job.record.batch)]! }

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
        /// The job was cancelled, and still lies where it was.
        case tombstone
        /// The job was cancelled, and is gone.
        case dropped
    }
    var record: JobRecord
    var fate = Fate.open
    /// The job is dead, and its record was deleted.
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
    /// Jobs that had failed and were put back into the queue.
    var revived = 0

    var isGone: Bool { state == .cancelled }

    /// Headers that are different for each batch that has any.
    static func headers(_ batch: Int) -> RequestHeaders {
        RequestHeaders(Array([1, 0, 1, 65, 0, 2] + "\(10 + batch % 90)".utf8))!
    }

    static func trace(_ batch: Int) -> TraceContext? {
        try? TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").child(UInt64(batch))
    }
}

/// Totals that do not follow from where jobs lie.
struct ModelTotals: Equatable {
    var fetched = 0
    var revalidated = 0
    var cached = 0
    var retried = 0
    var crashed = 0
    var fenced = 0
    var bytes = 0
}

/// Queue time and lease time. Lease time goes on in short steps only.
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

/// A difference between the state and the model.
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
    /// The channels that heard something, with the messages.
    var heard: Set<Heard> = []
}

struct Heard: Hashable {
    let channel: Int
    let what: String
}
