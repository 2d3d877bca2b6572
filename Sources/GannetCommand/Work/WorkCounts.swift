import Crawl
import GannetHTTP
import GannetQueue

/// A worker's reports as numbers. No clock inside.
struct WorkCounts: Sendable {
    /// The ways in which a worker can be done with a job.
    enum Outcome: String, CaseIterable, Sendable {
        case fetched, revalidated, cached, failed
        /// An attempt failed, or could not be made, and there will be another.
        case retried
        /// Its lease was lost to another worker.
        case lost
        case handedBack = "handed_back"
        /// Its URL had been fetched before, and the body is gone.
        case refetched
    }

    private(set) var jobs: [Outcome: Int] = [:]
    private(set) var bytes = 0

    /// Jobs given up, and attempts that were not the last, by class.
    private(set) var failures = ClassCounts()
    private(set) var retries = ClassCounts()

    private(set) var outages = 0

    /// The class of jobs that were given up without a fetch of their own.
    private static let unfetched = "unfetched"

    func count(of outcome: Outcome) -> Int { jobs[outcome] ?? 0 }

    /// Jobs whose bodies were in their place already, so that nothing was fetched.
    var there: Int { count(of: .cached) + count(of: .revalidated) }

    /// Jobs that their sites do not permit.
    var disallowed: Int { failures.counts[FailureCounts.disallowed] ?? 0 }

    /// The other jobs that were given up.
    var failed: Int { count(of: .failed) - disallowed }

    /// The classes of these, the most frequent first: `http-404 8, dns 3`.
    var failuresByClass: String {
        failures.sorted.filter { $0.errorClass != FailureCounts.disallowed }.map { "\(ClassCounts.shown($0.errorClass)) \($0.count)" }
            .joined(separator: ", ")
    }

    /// Jobs that were fetched, were there already, or failed.
    var ended: Int { count(of: .fetched) + there + count(of: .failed) }

    mutating func note(_ report: WorkerReport) {
        switch report {
        case .fetched(_, let count, _):
            add(.fetched)
            bytes += count
        case .revalidated: add(.revalidated)
        case .cached: add(.cached)
        case .bodyMissing: add(.refetched)
        case .putOff(_, let error, _):
            add(.retried)
            retries.add(1, of: error.className)
        case .hostFull:
            add(.retried)
            retries.add(1, of: WorkerReport.hostFullClass)
        case .failed(_, _, let errorClass), .skipped(_, _, let errorClass):
            add(.failed)
            failures.add(1, of: errorClass)
        case .lost: add(.lost)
        case .handedBack: add(.handedBack)
        case .givenUp(let count):
            add(.failed, count)
            failures.add(count, of: Self.unfetched)
        case .redis(.began): outages += 1
        case .malformed, .left, .leftBehind, .stopping, .handingBack, .drainAsked, .progress, .missing, .room, .standstill, .places,
            .redis(.ended):
            break
        }
    }

    private mutating func add(_ outcome: Outcome, _ count: Int = 1) { jobs[outcome, default: 0] += count }
}

/// Counts by class. A server's answers can make up many classes, so their number is limited: the rest counts as `other`.
struct ClassCounts: Sendable {
    private(set) var counts: [String: Int] = [:]

    static let most = 100
    static let other = "other"

    mutating func add(_ count: Int, of errorClass: String) {
        let isNew = counts[errorClass] == nil
        counts[isNew && counts.count >= Self.most - 1 ? Self.other : errorClass, default: 0] += count
    }

    /// An error class as people read it. `refused` alone would read like a refused connection.
    static func shown(_ errorClass: String) -> String { errorClass == "refused" ? "address refused" : errorClass }

    /// The most frequent first.
    var sorted: [(errorClass: String, count: Int)] {
        counts.map { (errorClass: $0.key, count: $0.value) }.sorted { ($0.count, $1.errorClass) > ($1.count, $0.errorClass) }
    }
}
