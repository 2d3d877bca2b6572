import Testing

@testable import Crawl
@testable import GannetQueue

/// A worker's machine while bodies wait to be stored.
@Suite struct WaitingBodiesTests {
    @Test func `a place is free when its transfer ends, and the next job is asked for before the first is settled`() {
        var bench = MachineBench { $0.concurrency = 1 }
        bench.start()
        let jobs = bench.jobs(2)
        bench.answer([jobs[0]])
        #expect(bench.take(.transferEnded(jobs[0].token, bytes: 10)).requests.map(\.wanted) == [1])
        #expect(bench.answer([jobs[1]]).started == [jobs[1].token])
    }

    @Test func `the host's place of a body that waits for a second is given back, once, and its job goes on`() {
        var bench = MachineBench { $0.concurrency = 2 }
        bench.start()
        let jobs = bench.jobs(2)
        bench.answer(jobs)
        for job in jobs { bench.take(.transferEnded(job.token, bytes: 10)) }
        bench.answer()
        // Nothing is stored for the second job: it is a failure, whose end needs no store.
        bench.take(.concluded(jobs[1].token, Conclusion(Settlement(jobs[1].token, jobs[1].id, .handedBack), nil)))
        bench.answer(verdicts: [.settled])
        let left = bench.wake(after: .seconds(1)).requests.flatMap(\.settlements)
        #expect(left.map(\.token) == [jobs[0].token])
        guard case .leftPlace? = left.first?.outcome else {
            Issue.record("\(left)")
            return
        }
        bench.settleAll()
        #expect(bench.machine.jobs[jobs[0].token] != nil)
        #expect(bench.conclude(jobs[0]).requests.flatMap(\.settlements).map(\.token) == [jobs[0].token])
        #expect(bench.machine.heldUp == 0 && bench.machine.unstoredBytes == 0)
    }

    @Test func `a worker that stands still because of bodies says so once, and goes on`() {
        var bench = MachineBench { $0.concurrency = 4 }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        bench.take(.transferEnded(job.token, bytes: WorkerMachine.mostUnstoredBytes))
        func told(_ actions: MachineActions) -> [Int?] {
            actions.reports.compactMap { report in if case .standstill(let jobs) = report { .some(jobs) } else { nil } }
        }
        #expect(told(bench.wake(after: .milliseconds(999))) == [])
        #expect(told(bench.wake(after: .milliseconds(1))) == [1])
        #expect(told(bench.wake(after: .seconds(5))) == [])
        #expect(told(bench.conclude(job)) == [nil])
    }

    @Test func `a worker that hands back gives bodies half of its time`() {
        var bench = MachineBench { $0.concurrency = 1 }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        bench.take(.transferEnded(job.token, bytes: 1))
        bench.settleAll()
        bench.take(.stopRequested)
        bench.take(.stopRequested)
        #expect(bench.wake(after: bench.machine.options.handBackTimeout / 2).requests.isEmpty)
        let sent = bench.wake(after: Lane.waitForCompany)
        guard case .handedBack? = sent.requests.flatMap(\.settlements).last?.outcome else {
            Issue.record("\(sent.requests)")
            return
        }
        // The store is back too late for this body.
        #expect(bench.conclude(job).requests.isEmpty)
        bench.settleAll()
        #expect(bench.machine.jobs.isEmpty && bench.machine.unstoredBytes == 0)
    }

    @Test func `a partition that fails for good while a host's place is given back does not have its job forgotten`() {
        var bench = MachineBench { $0.concurrency = 1 }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        bench.take(.transferEnded(job.token, bytes: 10))
        bench.answer()
        #expect(bench.wake(after: .seconds(1)).requests.flatMap(\.settlements).map(\.token) == [job.token])
        bench.fail(.invalid("no"))
        #expect(bench.machine.jobs[job.token] != nil && bench.machine.unstoredBytes == 10)
        let end = bench.wake(after: bench.machine.options.handBackTimeout / 2)
        #expect(end.reports.contains { if case .left(let left) = $0 { left.id == job.id } else { false } }, "\(end.reports)")
        #expect(bench.machine.jobs.isEmpty && bench.machine.unstoredBytes == 0 && bench.machine.heldUp == 0)
    }

    @Test func `jobs that are not settled are bounded by their number and by the bytes of their bodies`() {
        var bench = MachineBench { $0.concurrency = 1 }
        bench.start()
        var wanted = 0
        while let request = bench.underWay, request.wanted == 1, wanted < 10_000 {
            wanted += 1
            let job = bench.jobs(1)[0]
            bench.answer([job])
            bench.take(.transferEnded(job.token, bytes: 1))
        }
        #expect(wanted == 4096)
        var heavy = MachineBench { $0.concurrency = 4 }
        heavy.start()
        let job = heavy.jobs(1)[0]
        heavy.answer([job])
        #expect(heavy.take(.transferEnded(job.token, bytes: WorkerMachine.mostUnstoredBytes)).requests.isEmpty)
        #expect(heavy.take(.heard).requests.isEmpty)
        #expect(heavy.conclude(job).requests.map(\.wanted) == [4])
    }

    @Test func `an output that works long on each body lets few jobs wait, and that is no standstill`() {
        var bench = MachineBench(mostWaiting: 3) { $0.concurrency = 1 }
        bench.start()
        var jobs: [Job] = []
        while let request = bench.underWay, request.wanted == 1, jobs.count < 100 {
            jobs.append(bench.jobs(1)[0])
            bench.answer([jobs[jobs.count - 1]])
            bench.take(.transferEnded(jobs[jobs.count - 1].token, bytes: 1))
        }
        #expect(jobs.count == 3 && bench.machine.unsettled == 3)
        let late = bench.wake(after: .seconds(5))
        #expect(late.reports.allSatisfy { if case .standstill = $0 { false } else { true } })
    }
}
