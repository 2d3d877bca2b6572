/// Decides which waiting job is next, and which jobs are refused. It knows neither threads nor the content of jobs.
///
/// Reads go before writes, because a caller waits for each read. After some reads in a row a write has its turn. One thread is always free
/// of writes and tidying, so that a read need not wait for a slow write.
struct JobQueues<Job> {
    struct Limits: Sendable, Hashable {
        var threads: Int
        var reads: Int
        var writes: Int
        /// The memory that all waiting writes hold.
        var bytes: Int
    }

    enum Kind: Sendable, CaseIterable {
        case reads, writes, tidying
    }

    /// Takes a job out of its queue again.
    struct Ticket: Sendable, Hashable {
        fileprivate let kind: Kind
        fileprivate let number: UInt64
    }

    /// Jobs by consecutive numbers, so that any of them can leave at no cost.
    private struct Waiting {
        var jobs: [UInt64: (job: Job, bytes: Int)] = [:]
        var first: UInt64 = 0
        var end: UInt64 = 0
        var bytes = 0
        var running = 0
    }

    /// The number of reads that may go before a waiting write.
    static var readsBeforeWrite: Int { 16 }
    /// The number of jobs that may go before a waiting tidying job.
    static var jobsBeforeTidying: Int { 64 }

    private let limits: Limits
    private var reads = Waiting()
    private var writes = Waiting()
    private var tidying = Waiting()
    private var readsInARow = 0
    private var jobsInARow = 0

    init(_ limits: Limits) { self.limits = limits }

    var isEmpty: Bool { reads.jobs.isEmpty && writes.jobs.isEmpty && tidying.jobs.isEmpty }

    /// Puts a job at the end of its queue. Nil when the job may be refused and the queue is full.
    mutating func add(_ job: Job, to kind: Kind, bytes: Int, mayBeRefused: Bool) -> Ticket? {
        if mayBeRefused {
            switch kind {
            case .reads: guard reads.jobs.count < limits.reads else { return nil }
            // The first write is taken whatever its size, which `BoundedFolder` limits.
            case .writes:
                guard writes.jobs.count < limits.writes, writes.jobs.isEmpty || writes.bytes + bytes <= limits.bytes else { return nil }
            case .tidying: guard tidying.jobs.isEmpty else { return nil }
            }
        }
        return update(kind) { waiting in
            waiting.jobs[waiting.end] = (job, bytes)
            waiting.bytes += bytes
            waiting.end += 1
            return Ticket(kind: kind, number: waiting.end - 1)
        }
    }

    /// Takes a job out of its queue; nil when it has had its turn.
    mutating func remove(_ ticket: Ticket) -> Job? {
        update(ticket.kind) { Self.remove(ticket.number, from: &$0) }
    }

    /// Whether a free thread would find a job.
    var hasNext: Bool { nextKind != nil }

    /// The job for a free thread. The thread calls `ended` after it.
    mutating func next() -> (job: Job, kind: Kind)? {
        guard let kind = nextKind else { return nil }
        let job = update(kind) { waiting in
            while true {
                defer { waiting.first += 1 }
                if let job = Self.remove(waiting.first, from: &waiting) {
                    waiting.running += 1
                    return job
                }
            }
        }
        readsInARow = kind == .reads ? readsInARow + 1 : 0
        jobsInARow = kind == .tidying ? 0 : jobsInARow + 1
        return (job, kind)
    }

    mutating func ended(_ kind: Kind) { update(kind) { $0.running -= 1 } }

    /// Empties all queues.
    mutating func removeAll() -> [Job] {
        Kind.allCases.flatMap { kind in
            update(kind) { waiting in
                let jobs = waiting.jobs.values.map(\.job)
                waiting.jobs = [:]
                waiting.first = waiting.end
                waiting.bytes = 0
                return jobs
            }
        }
    }

    private var nextKind: Kind? {
        let mayWrite = writes.running + tidying.running < max(1, limits.threads - 1)
        let canWrite = mayWrite && !writes.jobs.isEmpty
        let canTidy = mayWrite && !tidying.jobs.isEmpty && tidying.running == 0
        if canTidy, jobsInARow >= Self.jobsBeforeTidying { return .tidying }
        if canWrite, readsInARow >= Self.readsBeforeWrite { return .writes }
        if !reads.jobs.isEmpty { return .reads }
        return canWrite ? .writes : canTidy ? .tidying : nil
    }

    private mutating func update<Result>(_ kind: Kind, _ change: (inout Waiting) -> Result) -> Result {
        switch kind {
        case .reads: change(&reads)
        case .writes: change(&writes)
        case .tidying: change(&tidying)
        }
    }

    private static func remove(_ number: UInt64, from waiting: inout Waiting) -> Job? {
        guard let entry = waiting.jobs.removeValue(forKey: number) else { return nil }
        waiting.bytes -= entry.bytes
        return entry.job
    }
}
