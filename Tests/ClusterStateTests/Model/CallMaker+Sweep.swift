@testable import ClusterState

/// A call of an operator who looks after the queues.
struct SweepCall {
    enum Jobs {
        /// Deleted from a list, by marks in place of the jobs or by rewriting the end of the list.
        case line(Line, before: Int?, looks: Int, behind: Int)
        case delayed(JobSweep.Action)
        case dead(JobSweep.Action)
    }
    let queue: Int
    let jobs: Jobs
    let host: Int?
    let limit: Int

    static let noLimit = 1 << 40

    func isAsked(_ record: JobRecord, _ model: Model) -> Bool {
        record.queue == queue && (host.map { model.host(of: record.url) == $0 } ?? true)
    }
}

extension CallMaker {
    func sweep(_ draw: inout Draw, _ look: StateLook, _ model: Model) -> [Call] {
        let queue = draw.below(2)
        let host = draw.chance(50) ? draw.below(climate.hosts) : nil
        let limit = draw.chance(30) ? 1 + draw.below(3) : SweepCall.noLimit
        let jobs: SweepCall.Jobs
        switch draw.below(10) {
        case 0..<6:
            let lines = look.lines.keys.filter { $0.isOf(queue) }.sorted { "\($0)" < "\($1)" }
            guard !lines.isEmpty else { return [] }
            let line = draw.one(of: lines)
            let before = draw.chance(50) ? draw.below(look.lines[line]!.count + 2) + 1 : nil
            // Deletions leave no marks within lists of held jobs.
            let behind = if case .held = line { 500 } else { draw.one(of: [0, 0, 2, 500]) }
            jobs = .line(line, before: before, looks: draw.chance(70) ? 500 : 1 + draw.below(6), behind: behind)
        case 6: jobs = .delayed(.retry)
        case 7: jobs = .delayed(.delete)
        case 8: jobs = .dead(.delete)
        default: jobs = .dead(.retry)
        }
        // The order in which dead jobs are met is not known.
        if case .dead = jobs { return [.sweep(SweepCall(queue: queue, jobs: jobs, host: host, limit: SweepCall.noLimit))] }
        return [.sweep(SweepCall(queue: queue, jobs: jobs, host: host, limit: limit))]
    }
}

extension Line {
    fileprivate func isOf(_ queue: Int) -> Bool {
        switch self {
        case .ready(let itsQueue, _), .held(let itsQueue, _, _): itsQueue == queue
        case .parked, .chain: true
        }
    }

    var list: JobList {
        let name = { (priority: Int) in JobList.priorities[priority - 1] }
        switch self {
        case .ready(_, let priority): return .ready(name(priority))
        case .held(_, let priority, let host): return .held(name(priority), "h\(host)")
        case .parked(let url): return JobList(Array("parked:".utf8) + QueueFixture.id(url).bytes)
        case .chain(let number): return JobList(Array("chain:\(number)".utf8))
        }
    }
}

extension SweepCall: CustomStringConvertible {
    var description: String {
        let what =
            switch jobs {
            case .line(let line, let before, let looks, let behind):
                "delete from \(line)\(before.map { " before \($0)" } ?? ""), looking at \(looks), \(behind) behind"
            case .delayed(let action): "\(action) what is delayed"
            case .dead(let action): "\(action) what is dead"
            }
        return "\(what) in \(queueNames[queue])\(host.map { ", host \($0)" } ?? "")\(limit < Self.noLimit ? ", \(limit) at most" : "")"
    }
}
