/// Which waiting job is next, and which are not taken on. Decides only: it knows neither threads nor what a job does.
///
/// Reads go before writes, since somebody waits for each; but all threads but one at most are busy with writes and tidying, so that a read need not
/// wait for a slow write, and after some reads in a row a write has its turn.
struct JobLines<Job> {
    struct Limits: Sendable, Hashable {
        var threads: Int
        var reads: Int
        var writes: Int
        /// What all waiting writes hold in memory.
        var bytes: Int
    }

    enum Line: Sendable, CaseIterable {
        case reads, writes, tidying
    }

    /// A job's place in its line.
    struct Place: Sendable, Hashable {
        fileprivate let line: Line
        fileprivate let number: UInt64
    }

    /// Jobs by consecutive numbers: one that leaves costs nothing but its number.
    private struct Waiting {
        var jobs: [UInt64: (job: Job, bytes: Int)] = [:]
        var first: UInt64 = 0
        var end: UInt64 = 0
        var bytes = 0
        var running = 0
    }

    /// As many reads may go before a write that waits.
    static var readsBeforeWrite: Int { 16 }
    /// As many jobs may go before tidying that waits.
    static var jobsBeforeTidying: Int { 64 }

    private let limits: Limits
    private var reads = Waiting()
    private var writes = Waiting()
    private var tidying = Waiting()
    private var readsInARow = 0
    private var jobsInARow = 0

    init(_ limits: Limits) { self.limits = limits }

    var isEmpty: Bool { reads.jobs.isEmpty && writes.jobs.isEmpty && tidying.jobs.isEmpty }

    /// Puts a job at the end of its line. Nil, when it may be refused and the line is long enough.
    mutating func add(_ job: Job, to line: Line, bytes: Int, mayBeRefused: Bool) -> Place? {
        if mayBeRefused {
            switch line {
            case .reads: guard reads.jobs.count < limits.reads else { return nil }
            // The first is welcome whatever its size; whether anything can be that large is decided elsewhere.
            case .writes:
                guard writes.jobs.count < limits.writes, writes.jobs.isEmpty || writes.bytes + bytes <= limits.bytes else { return nil }
            case .tidying: guard tidying.jobs.isEmpty else { return nil }
            }
        }
        return update(line) { waiting in
            waiting.jobs[waiting.end] = (job, bytes)
            waiting.bytes += bytes
            waiting.end += 1
            return Place(line: line, number: waiting.end - 1)
        }
    }

    /// Takes a job out of its line before its turn; nil when it had it.
    mutating func remove(_ place: Place) -> Job? {
        update(place.line) { Self.remove(place.number, from: &$0) }
    }

    /// Whether a thread that is free would find something to do.
    var hasNext: Bool { nextLine != nil }

    /// The job a free thread is to do now; `ended` has to follow.
    mutating func next() -> (job: Job, line: Line)? {
        guard let line = nextLine else { return nil }
        let job = update(line) { waiting in
            while true {
                defer { waiting.first += 1 }
                if let job = Self.remove(waiting.first, from: &waiting) {
                    waiting.running += 1
                    return job
                }
            }
        }
        readsInARow = line == .reads ? readsInARow + 1 : 0
        jobsInARow = line == .tidying ? 0 : jobsInARow + 1
        return (job, line)
    }

    mutating func ended(_ line: Line) { update(line) { $0.running -= 1 } }

    /// Empties all lines.
    mutating func removeAll() -> [Job] {
        Line.allCases.flatMap { line in
            update(line) { waiting in
                let jobs = waiting.jobs.values.map(\.job)
                waiting.jobs = [:]
                waiting.first = waiting.end
                waiting.bytes = 0
                return jobs
            }
        }
    }

    private var nextLine: Line? {
        let mayWrite = writes.running + tidying.running < max(1, limits.threads - 1)
        let canWrite = mayWrite && !writes.jobs.isEmpty
        let canTidy = mayWrite && !tidying.jobs.isEmpty && tidying.running == 0
        if canTidy, jobsInARow >= Self.jobsBeforeTidying { return .tidying }
        if canWrite, readsInARow >= Self.readsBeforeWrite { return .writes }
        if !reads.jobs.isEmpty { return .reads }
        return canWrite ? .writes : canTidy ? .tidying : nil
    }

    private mutating func update<Result>(_ line: Line, _ change: (inout Waiting) -> Result) -> Result {
        switch line {
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
