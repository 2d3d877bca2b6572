import GannetRedisClient

@testable import Crawl
@testable import GannetQueue

enum RedisErrors {
    static let lost = RedisError(.connectionLost, mayHaveExecuted: true)
}

/// A worker's machine, and a Redis that answers as a test says.
struct MachineBench {
    var machine: WorkerMachine
    private(set) var now = ContinuousClock.now
    /// The exchanges under way, the oldest first.
    private(set) var sent: [(lane: Lane.ID, request: ExchangeRequest)] = []
    private var counter: UInt64 = 0

    init(partitions: Int = 1, mostWaiting: Int? = nil, _ change: (inout WorkerOptions) -> Void) {
        var options = WorkerOptions()
        options.idleLook = .seconds(3600)
        change(&options)
        machine = WorkerMachine(options, worker: "w", partitions: partitions, inbox: "inbox", mostWaiting: mostWaiting)
    }

    var underWay: ExchangeRequest? { sent.first?.request }
    var lanes: [Lane.ID] { sent.map(\.lane) }

    @discardableResult mutating func start() -> MachineActions { wake(after: .zero) }

    @discardableResult mutating func wake(after time: Duration) -> MachineActions { take(.woken(now + time), after: time) }

    @discardableResult mutating func take(_ input: WorkerMachine.Input, after time: Duration = .zero) -> MachineActions {
        now += time
        let actions = MachineActions(machine.take([input], at: now))
        for (lane, request) in actions.exchanges { sent.append((lane, request)) }
        return actions
    }

    /// Jobs of the incarnation that asks in the oldest exchange.
    mutating func jobs(_ count: Int) -> [Job] {
        let lane = sent.first?.lane ?? machine.lanes[0].id
        return (0..<count).map { _ in
            counter += 1
            let id = WorkerFixture.id(Int(counter))
            return Job(
                token: LockToken(counter: counter, incarnation: lane.incarnation), entry: JobEntry(checked: id, "h", "http://h/\(counter)"),
                queue: "q", partition: lane.partition, batch: 1, terms: LeasedBatch(name: "b"))
        }
    }

    /// Answers the oldest exchange.
    @discardableResult mutating func answer(
        _ jobs: [Job] = [], verdicts: [Verdict] = [], held: Int? = nil, left: ExchangeAnswer.Left = .jobs, next: Duration? = nil,
        isHeldBack: Bool = false, after time: Duration = .milliseconds(1)
    ) -> MachineActions {
        let (lane, request) = sent.removeFirst()
        let known = machine.lanes[lane.partition].session.holdings.all.count
        let settled = zip(request.settlements, verdicts).count { $1 != .malformed }
        let exchange = ExchangeAnswer(
            now: 1, verdicts: verdicts, jobs: jobs, held: held ?? known + jobs.count - settled, left: left, isMore: false, next: next,
            isPaused: false, isHeldBack: isHeldBack, unreadable: [])
        return take(.answered(lane, exchange, after: time), after: time)
    }

    /// Answers exchanges until none is under way. They bring no jobs.
    mutating func settleAll() {
        while let request = underWay { answer(verdicts: request.settlements.map { _ in .settled }) }
    }

    /// Answers the oldest exchange of another lane.
    mutating func answerOther(than lane: Lane.ID) {
        guard let index = sent.firstIndex(where: { $0.lane != lane }) else { return }
        sent.insert(sent.remove(at: index), at: 0)
        answer(verdicts: sent[0].request.settlements.map { _ in .settled })
    }

    @discardableResult mutating func endLease() -> MachineActions { take(.answered(sent.removeFirst().lane, nil, after: .milliseconds(1))) }

    @discardableResult mutating func fail(_ error: StateError) -> MachineActions { take(.unanswered(sent.removeFirst().lane, error)) }

    /// Ends a job's transfer and its conclusion.
    @discardableResult mutating func conclude(_ job: Job, _ other: Conclusion? = nil) -> MachineActions {
        let settlement = Settlement(job.token, job.id, .fetched(OutcomeContent(url: job.url), WorkerFixture.briefly))
        let conclusion = other ?? Conclusion(settlement, .fetched(JobLabel(job), bytes: 1, file: nil))
        now += .zero
        let actions = MachineActions(machine.take([.transferEnded(job.token, bytes: 1), .concluded(job.token, conclusion)], at: now))
        for (lane, request) in actions.exchanges { sent.append((lane, request)) }
        return actions
    }

    /// Makes the machine hold jobs, as if an exchange had brought them.
    mutating func give(_ jobs: [Job]) -> [LockToken] {
        for job in jobs { machine.jobs[job.token] = WorkerMachine.JobInHand(job: job, claimed: now, phase: .inStock) }
        return jobs.map(\.token)
    }
}

/// The decisions of a machine, sorted by kind.
struct MachineActions {
    private(set) var exchanges: [(Lane.ID, ExchangeRequest)] = []
    private(set) var started: [LockToken] = []
    private(set) var cancelled: [LockToken] = []
    private(set) var reports: [WorkerReport] = []
    private(set) var reportsSilence = false
    private(set) var left: LeftBehind?
    private(set) var end: WorkerEnd?

    var requests: [ExchangeRequest] { exchanges.map(\.1) }
    var sent: [Lane.ID] { exchanges.map(\.0) }

    init(_ actions: [WorkerMachine.Action]) {
        for action in actions {
            switch action {
            case .send(let lane, let request): exchanges.append((lane, request))
            case .start(let job): started.append(job.token)
            case .cancel(let token, _): cancelled.append(token)
            case .report(let report): reports.append(report)
            case .reportSilence: reportsSilence = true
            case .leave(let left): self.left = left
            case .settled: break
            case .finish(let result): end = try? result.get()
            }
        }
    }
}
