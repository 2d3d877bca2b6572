import GannetHTTP
import GannetRedis
import Testing

@testable import Crawl
@testable import GannetQueue

/// The machine without Redis: inputs on one side, actions on the other.
@Suite struct WorkerMachineTests {
    @Test func `an idle worker asks for as many jobs as it has places, and again when jobs are announced`() {
        var bench = MachineBench { $0.concurrency = 4 }
        #expect(bench.start().requests.map(\.wanted) == [4])
        #expect(bench.answer().requests.isEmpty)
        #expect(bench.take(.heard).requests.map(\.wanted) == [4])
        // One exchange at a time: jobs that are announced meanwhile are asked for afterwards.
        #expect(bench.take(.heard).requests.isEmpty)
        #expect(bench.answer().requests.map(\.number) == [3])
    }

    @Test func `an idle worker that comes too late each time looks less often, and in time again once it hears of jobs or gets one`() {
        var bench = MachineBench { $0.concurrency = 4 }
        /// The looks within ten seconds in which the partition always wants the next visit at once.
        func looks() -> Int {
            var looks = 0
            for _ in 0..<10_000 {
                if bench.underWay != nil {
                    looks += 1
                    bench.answer(next: .milliseconds(1), after: .zero)
                }
                bench.wake(after: .milliseconds(1))
            }
            return looks
        }
        bench.start()
        #expect(10...40 ~= looks())
        for hears in [true, false] {
            if bench.underWay != nil { bench.answer(next: .milliseconds(1)) }
            if hears { bench.take(.heard) } else { while bench.underWay == nil { bench.wake(after: .milliseconds(1)) } }
            let found = hears ? [] : bench.jobs(1)
            bench.answer(found, next: .milliseconds(50))
            #expect(bench.wake(after: .milliseconds(49)).requests.isEmpty)
            #expect(bench.wake(after: .milliseconds(1)).requests.count == 1)
            bench.answer(next: .milliseconds(1))
            #expect(looks() <= 40)
        }
    }

    @Test func `without room for bodies a worker asks for no jobs and starts none, and goes on when there is room`() {
        var holding = MachineBench { $0.concurrency = 4 }
        holding.start()
        holding.take(.room(false))
        // Jobs that were on their way wait in stock.
        #expect(holding.answer(holding.jobs(4)).started.isEmpty)
        #expect(holding.take(.room(true)).started.count == 4)

        var idle = MachineBench { $0.concurrency = 4 }
        idle.start()
        idle.answer()
        idle.take(.room(false))
        #expect(idle.take(.heard).requests.isEmpty)
        #expect(idle.take(.room(true)).requests.map(\.wanted) == [4])
    }

    @Test func `without a network a worker takes no jobs for the pause of the one that failed, unless another gets an answer`() {
        func failed(_ job: Job) -> Conclusion {
            let error = FetchError(kind: .proxy, url: job.url)
            return Conclusion(
                of: job, .putOff(OutcomeContent(error, url: job.url), for: .seconds(7)), .putOff(JobLabel(job), error, pause: .seconds(7)))
        }
        var bench = MachineBench { $0.concurrency = 2 }
        bench.start()
        let jobs = bench.jobs(3)
        bench.answer(Array(jobs.prefix(2)))
        #expect(bench.conclude(jobs[0], failed(jobs[0])).requests.isEmpty)
        #expect(bench.wake(after: .seconds(1)).requests.map(\.wanted) == [0])
        bench.answer(verdicts: [.settled])
        #expect(bench.take(.heard).requests.isEmpty)
        #expect(bench.wake(after: .seconds(5)).requests.isEmpty)
        #expect(bench.wake(after: .seconds(1)).requests.map(\.wanted) == [1])
        bench.answer()

        bench.conclude(jobs[1], failed(jobs[1]))
        bench.wake(after: .seconds(1))
        bench.answer(verdicts: [.settled])
        #expect(bench.take(.heard).requests.isEmpty)
        let answered = Conclusion(of: jobs[2], .handedBack, nil, host: .answered)
        #expect(bench.take(.concluded(jobs[2].token, answered)).requests.map(\.wanted) == [2])
    }

    @Test(arguments: [(ExchangeAnswer.Left.nothing, 1), (.missing, 1), (.jobs, 0)])
    func `missing jobs are told of once, where no partition has others`(other: ExchangeAnswer.Left, times: Int) {
        var bench = MachineBench(partitions: 2) { $0.concurrency = 64 }
        bench.start()
        let reports = bench.answer(left: .missing).reports + bench.answer(left: other).reports
        #expect(reports.count { if case .missing = $0 { true } else { false } } == times)
    }

    @Test func `an exchange without an answer is repeated with the same content, and later outcomes wait`() throws {
        var bench = MachineBench { $0.concurrency = 2 }
        bench.start()
        let jobs = bench.jobs(2)
        bench.answer(jobs)
        let sent = try #require(bench.conclude(jobs[0]).requests.first)
        #expect(sent.settlements.map(\.token) == [jobs[0].token])
        #expect(bench.fail(transient).reports.contains { if case .redis(.began) = $0 { true } else { false } })
        #expect(bench.conclude(jobs[1]).requests.isEmpty)
        let again = try #require(bench.wake(after: .seconds(1)).requests.first)
        #expect(again.number == sent.number && again.settlements.map(\.token) == [jobs[0].token] && again.wanted == sent.wanted)
        let next = bench.answer(verdicts: [.settled])
        #expect(next.requests.map(\.number) == [sent.number + 1])
        #expect(next.requests.first?.settlements.map(\.token) == [jobs[1].token])
    }

    @Test(arguments: [(Duration.seconds(30), Duration.seconds(2)), (.seconds(3), .seconds(1))])
    func `a silent Redis is told after two seconds or a third of the lease, once in an outage`(lease: Duration, patience: Duration) {
        var bench = MachineBench { $0.lease = lease }
        bench.start()
        #expect(!bench.wake(after: patience - .milliseconds(1)).reportsSilence)
        #expect(bench.wake(after: .milliseconds(1)).reportsSilence)
        #expect(!bench.wake(after: patience * 2).reportsSilence)
        // The command's timeout is no news, and neither is the silence of its repetition.
        #expect(bench.fail(transient).reports.isEmpty)
        #expect(!bench.wake(after: .seconds(1)).requests.isEmpty)
        #expect(!bench.wake(after: patience * 2).reportsSilence)
        #expect(bench.answer().reports.count { if case .redis(.ended) = $0 { true } else { false } } == 1)
        // Nothing is under way, so nothing is missed.
        #expect(!bench.wake(after: patience * 2).reportsSilence)
        bench.take(.heard)
        #expect(bench.wake(after: patience).reportsSilence)
    }

    @Test func `an ended lease makes a new incarnation, whose first exchange has the same outcomes`() throws {
        var bench = MachineBench { $0.concurrency = 1 }
        let first = try #require(bench.start().requests.first)
        let job = bench.jobs(1)[0]
        bench.answer([job])
        let sent = try #require(bench.conclude(job).requests.first)
        let anew = try #require(bench.endLease().requests.first)
        #expect(anew.number == 1 && anew.incarnation != first.incarnation && anew.incarnation != sent.incarnation)
        #expect(anew.settlements.map(\.token) == [job.token] && anew.wanted == sent.wanted)
    }

    @Test func `fewer than eight outcomes wait for company, and eight go at once`() {
        var bench = MachineBench { $0.concurrency = 16 }
        bench.start()
        let jobs = bench.jobs(32)
        bench.answer(Array(jobs[..<16]))
        // All places are taken again by jobs in stock, which is only possible because these were handed out beyond the places.
        bench.machine.stock += bench.give(Array(jobs[16...]))
        for job in jobs[..<7] { #expect(bench.conclude(job).requests.isEmpty) }
        #expect(bench.wake(after: .milliseconds(1)).requests.isEmpty)
        #expect(bench.conclude(jobs[7]).requests.map(\.settlements.count) == [8])
        bench.answer(verdicts: Array(repeating: .settled, count: 8))
        #expect(bench.conclude(jobs[8]).requests.isEmpty)
        #expect(bench.wake(after: Lane.waitForCompany).requests.map(\.settlements.count) == [1])
    }

    @Test func `an outcome goes at once where a place is empty`() {
        var bench = MachineBench { $0.concurrency = 4 }
        bench.start()
        let jobs = bench.jobs(2)
        bench.answer(jobs)
        let sent = bench.conclude(jobs[0]).requests
        #expect(sent.map(\.settlements.count) == [1] && sent.map(\.wanted) == [3])
    }

    @Test(arguments: [0, 7, 8]) func `where transfers end fast, empty places wait for eight outcomes or two milliseconds`(outcomes: Int) {
        var bench = MachineBench { $0.concurrency = 64 }
        bench.start()
        let jobs = bench.jobs(128)
        bench.answer(Array(jobs[..<64]))
        // The first end asks for one job; the others gather for an answer that takes 11 ms.
        for job in jobs[..<64] { bench.conclude(job) }
        bench.answer([jobs[64]], verdicts: [.settled], after: .milliseconds(11))
        bench.answer(Array(jobs[65...]), verdicts: Array(repeating: .settled, count: 63))
        #expect(bench.underWay == nil)
        let ended = jobs[64..<104]
        for job in ended.dropFirst(outcomes) { #expect(bench.take(.transferEnded(job.token, bytes: 1)).requests.isEmpty) }
        for job in ended.prefix(outcomes) { bench.conclude(job) }
        let now = bench.underWay
        #expect(now?.settlements.count == (outcomes == 8 ? 8 : nil) && now?.wanted == (outcomes == 8 ? 40 : nil))
        if outcomes < 8 { #expect(bench.wake(after: .milliseconds(1)).requests.map(\.wanted) == [40]) }
    }

    @Test func `the lease is extended three times within its length while anything is held, and not otherwise`() {
        var bench = MachineBench {
            $0.concurrency = 1
            $0.lease = .seconds(30)
            $0.idleLook = .seconds(3600)
        }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        for _ in 0..<3 {
            #expect(bench.wake(after: .seconds(9)).requests.isEmpty)
            #expect(bench.wake(after: .seconds(1)).requests.map(\.settlements.count) == [0])
            bench.answer(held: 1)
        }
        bench.conclude(job)
        bench.answer(verdicts: [.settled])
        if bench.underWay != nil { bench.answer() }
        #expect(bench.wake(after: .seconds(100)).requests.isEmpty)
    }

    @Test func `a difference in what is held makes the next exchange name it all, once`() {
        var bench = MachineBench { $0.concurrency = 2 }
        bench.start()
        let jobs = bench.jobs(2)
        let named = bench.answer(jobs, held: 3).requests
        #expect(named.compactMap(\.held).map(Set.init) == [[.lock(jobs[0].id), .lock(jobs[1].id)]])
        #expect(bench.answer(held: 2).requests.isEmpty)
        // A loss of Redis cannot be named away.
        bench.wake(after: .seconds(10))
        #expect(bench.answer(held: 1).requests.compactMap(\.held).count == 1)
        #expect(bench.answer(held: 1).requests.isEmpty)
    }

    @Test func `a place that a request is asking for is no difference`() {
        var bench = MachineBench { $0.concurrency = 1 }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        bench.take(.asksForPlace(job.token, job.id, partition: 0))
        bench.wake(after: .seconds(10))
        #expect(bench.answer(held: 2).requests.isEmpty)
        bench.take(.moved(job.token, job.id, partition: 0, .there))
        bench.wake(after: .seconds(10))
        #expect(bench.answer(held: 2).requests.isEmpty)
    }

    @Test func `the first stop hands back what waits for a place, and lets transfers end`() throws {
        var bench = MachineBench { $0.concurrency = 1 }
        bench.start()
        let jobs = bench.jobs(2)
        bench.answer(jobs)
        let actions = bench.take(.stopRequested)
        #expect(actions.cancelled.isEmpty)
        #expect(actions.reports.contains { if case .stopping(active: 1, _) = $0 { true } else { false } })
        let sent = try #require(bench.wake(after: Lane.waitForCompany).requests.first)
        #expect(sent.settlements.map(\.token) == [jobs[1].token] && sent.wanted == 0)
        guard case .handedBack? = sent.settlements.first?.outcome else { return #expect(Bool(false), "it was not handed back") }
        bench.answer(verdicts: [.settled], held: 1)
        bench.conclude(jobs[0])
        bench.wake(after: Lane.waitForCompany)
        #expect(bench.answer(verdicts: [.settled]).end == .drained)
    }

    @Test func `the second stop cancels transfers, and the third leaves them to the end of their leases`() {
        var bench = MachineBench { $0.concurrency = 1 }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        bench.take(.stopRequested)
        let second = bench.take(.stopRequested)
        #expect(second.cancelled == [job.token])
        #expect(second.reports.contains { if case .handingBack(active: 1, _) = $0 { true } else { false } })
        let last = bench.take(.stopRequested)
        #expect(last.end == .handedBack && last.reports.contains(where: \.isLeft))
    }

    @Test func `a wish to drain is a first stop, and the first signal behind it changes nothing`() {
        var bench = MachineBench { $0.concurrency = 1 }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        let actions = bench.take(.drainAsked)
        #expect(actions.cancelled.isEmpty)
        #expect(actions.reports.contains { if case .drainAsked = $0 { true } else { false } })
        #expect(actions.reports.contains { if case .stopping(active: 1, _) = $0 { true } else { false } })
        // Each heartbeat brings the wish again.
        #expect(bench.take(.drainAsked).reports.isEmpty)
        #expect(bench.take(.stopRequested).cancelled.isEmpty)
        #expect(bench.take(.drainAsked).cancelled.isEmpty)
        #expect(bench.take(.stopRequested).cancelled == [job.token])
    }

    @Test func `a drain waits five seconds for exchanges without an answer once no job is left, and is complete then`() throws {
        var bench = MachineBench(partitions: 2) {
            $0.concurrency = 32
            $0.drainTimeout = .seconds(3600)
        }
        bench.start()
        let job = bench.jobs(1)[0]
        let silent = try #require(bench.lanes.last)
        bench.answer([job])
        bench.take(.stopRequested)
        // A job goes on, so its partition's outcome is waited for, and the other partition's answer too.
        #expect(bench.wake(after: .seconds(60)).end == nil)
        bench.conclude(job)
        bench.wake(after: .seconds(1))
        while bench.lanes.contains(where: { $0 != silent }) { bench.answerOther(than: silent) }
        #expect(bench.machine.jobs.isEmpty)
        #expect(bench.wake(after: .seconds(4)).end == nil)
        let last = bench.wake(after: .seconds(1))
        #expect(last.end == .drained)
        #expect(last.left == LeftBehind(jobs: 0, partitions: [silent.partition]))
    }

    @Test func `jobs whose outcomes are not taken are named at the end of a drain, which is not complete then`() {
        var bench = MachineBench {
            $0.concurrency = 1
            $0.drainTimeout = .seconds(10)
        }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        bench.conclude(job)
        bench.take(.stopRequested)
        #expect(bench.wake(after: .seconds(10)).end == nil)
        let last = bench.wake(after: .seconds(5))
        #expect(last.end == .handedBack && last.left == LeftBehind(jobs: 1, partitions: [0]))
    }

    @Test func `a transfer that lasts longer than a lock may is cancelled before its lock's time is over`() {
        var bench = MachineBench {
            $0.concurrency = 1
            $0.longestHold = .seconds(80)
        }
        bench.start()
        let job = bench.jobs(1)[0]
        bench.answer([job])
        var seconds = 0
        while seconds < 80, bench.wake(after: .seconds(1)).cancelled != [job.token] {
            if bench.underWay != nil { bench.answer(held: 1) }
            seconds += 1
        }
        #expect((60..<80).contains(seconds))
    }

    @Test func `a URL for a worker that has nothing else waits until the worker has nothing in all partitions, and is then alone`() throws {
        var bench = MachineBench(partitions: 2) { $0.concurrency = 32 }
        bench.start()
        let partitions = bench.lanes.map(\.partition)
        #expect(partitions.count == 2 && bench.sent.allSatisfy { $0.request.wanted > 0 && !$0.request.hasNothingElsewhere })
        bench.answer(isHeldBack: true)
        let other = bench.jobs(1)
        bench.answer(other)
        // The other partition is asked for no more jobs, and settles.
        let heard = bench.take(.heard).exchanges
        #expect(heard.map(\.0.partition) == [partitions[0]] && heard.allSatisfy { !$0.1.hasNothingElsewhere })
        bench.answer(isHeldBack: true)
        bench.conclude(other[0])
        let settling = bench.wake(after: Lane.waitForCompany).exchanges
        #expect(settling.map(\.0.partition) == [partitions[1]] && settling.allSatisfy { $0.1.wanted + $0.1.spare == 0 })
        bench.answer(verdicts: [.settled])
        let free = bench.take(.heard).exchanges
        #expect(free.map(\.0.partition) == [partitions[0]] && free.allSatisfy { $0.1.hasNothingElsewhere && $0.1.wanted > 0 })
        let alone = bench.jobs(1)
        bench.answer(alone, isHeldBack: true)
        #expect(bench.take(.heard).exchanges.map(\.0.partition) == [partitions[0]])
        bench.answer(isHeldBack: true)
        bench.conclude(alone[0])
        bench.wake(after: Lane.waitForCompany)
        bench.answer(verdicts: [.settled])
        #expect(bench.lanes.map(\.partition) == [partitions[1]] && bench.sent[0].request.wanted > 0)
    }

    @Test func `a worker works on a sixteenth as many partitions as it has places, and goes on to others when they are dry`() {
        var bench = MachineBench(partitions: 16) { $0.concurrency = 32 }
        let first = bench.start()
        #expect(first.requests.map(\.wanted) == [16, 16])
        var visited = Set(bench.lanes.map(\.partition))
        for _ in 0..<14 {
            let next = bench.answer().sent
            #expect(next.count == 1)
            visited.formUnion(next.map(\.partition))
        }
        #expect(visited.count == 16)
        #expect(bench.answer().sent.isEmpty)
        #expect(bench.answer().sent.isEmpty)
    }

    @Test func `jobs for soon are asked for once transfers end fast enough, at most an eighth of the places`() {
        var bench = MachineBench { $0.concurrency = 64 }
        bench.start()
        var jobs = bench.jobs(64)
        bench.answer(jobs)
        var most = 0
        for _ in 0..<20 {
            for job in jobs { bench.conclude(job) }
            jobs = bench.jobs(bench.underWay?.wanted ?? 0)
            most = max(most, bench.underWay?.spare ?? 0)
            bench.answer(jobs, verdicts: Array(repeating: .settled, count: bench.underWay?.settlements.count ?? 0), after: .milliseconds(5))
        }
        #expect(most == 8)
    }

    private let transient = StateError.redis(RedisErrors.lost)
}
