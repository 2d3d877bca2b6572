@testable import ClusterState

extension Model {
    /// An overview has to agree with what lies in Redis.
    func check(overview: QueueOverview, of queue: Int, _ step: Step) throws(Violation) {
        var waiting = 0
        var enqueued: Set<Int> = []
        var heads: [Int] = []
        for (line, serials) in step.after.lines {
            switch line {
            case .ready(queue, _), .held(queue, _, _): break
            default: continue
            }
            let records = serials.map { jobs[$0]!.record }
            waiting += serials.count { jobs[$0]!.fate == .open }
            enqueued.formUnion(records.map(\.enqueued))
            if let first = records.first { heads.append(first.enqueued) }
        }
        try Violation.equal(overview.counts.ready, waiting, "how many wait")
        if hasDeleted { return }
        try Violation.equal(overview.oldestReady == nil, waiting == 0, "whether there is no oldest")
        if let oldest = overview.oldestReady {
            try Violation.require(enqueued.contains(oldest), "nothing that waits was enqueued at \(oldest)")
            try Violation.require(heads.allSatisfy { oldest <= $0 }, "\(oldest) is the oldest, and before it are of \(heads)")
        }
    }
}
