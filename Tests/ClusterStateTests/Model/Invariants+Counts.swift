@testable import ClusterState

extension Model {
    /// The counters have to agree with where jobs lie.
    func checkCounts(_ look: StateLook) throws(Violation) {
        var waiting: [BatchKey: Places] = [:]
        for (serial, found) in look.jobs {
            let job = jobs[serial]!
            let key = BatchKey(queue: job.record.queue, number: job.record.batch)
            switch found.place {
            case .leased: waiting[key, default: Places()].active += 1
            case _ where job.fate == .tombstone: break
            case .later: waiting[key, default: Places()].delayed += 1
            case .line(.parked), .line(.chain): waiting[key, default: Places()].parked += 1
            case .line: break
            }
        }
        var sums = [[Int]](repeating: [Int](repeating: 0, count: 7), count: 2)
        for (key, batch) in batches {
            let places = waiting[key] ?? Places()
            let state = batch.state == .open ? 0 : batch.state == .closed ? 1 : 2
            let wanted = [
                state, batch.offset, batch.total, batch.done, batch.failed, batch.cancelled, places.active, places.parked, places.delayed,
            ]
            let what = "state, offset, total, done, failed, cancelled, active, parked, delayed of batch \(key.number)"
            try Violation.equal(look.batches[key] ?? [], wanted, what)
            let finished = batch.done + batch.failed + batch.revived
            try Violation.equal(look.finished[key] ?? 0, finished, "how many URLs batch \(key.number) has finished")
            let isEnded = batch.state != .open && batch.total == batch.done + batch.failed + batch.cancelled
            try Violation.equal(look.ended.contains(key), isEnded, "whether batch \(key.number) has ended")
            for index in 0..<7 { sums[key.queue][index] += wanted[index + 2] }
        }
        for queue in 0..<2 { try checkTotals(look, queue, sums[queue]) }
        let fenced = look.counts[2]?[12] ?? 0
        try Violation.equal(fenced, totals[2].fenced, "fenced flights of callers without a job")
    }

    private func checkTotals(_ look: StateLook, _ queue: Int, _ sums: [Int]) throws(Violation) {
        let own = totals[queue]
        let wanted =
            sums + [
                own.fetched, own.revalidated, own.cached, own.retried, own.crashed, own.fenced, own.fenced, own.bytes,
                isPaused[queue] ? 1 : 0,
            ]
        let what =
            "enqueued, done, failed, cancelled, active, parked, delayed, fetched, revalidated, cached, retried, crashed, fenced, "
            + "double fetches, bytes, paused of \(queueNames[queue])"
        try Violation.equal(look.counts[queue] ?? [Int](repeating: 0, count: 16), wanted, what)
        try Violation.equal(look.deadCounts[queue], sums[2] - forgotten[queue], "the dead of \(queueNames[queue])")
    }

    private struct Places {
        var active = 0
        var parked = 0
        var delayed = 0
    }
}
