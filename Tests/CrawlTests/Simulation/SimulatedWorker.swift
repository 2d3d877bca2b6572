import GannetBase
import GannetRedis
import GannetTestKit

@testable import Crawl
@testable import GannetQueue

/// A worker's own machine. Its network, its requests and its bodies are lists here.
struct SimulatedWorker {
    struct Message {
        let lane: Lane.ID
        let request: ExchangeRequest
    }

    /// A request to the origin. It may go on for another job of its URL.
    struct Transfer {
        var job: Job
        var isCancelled = false
    }

    let name: String
    private(set) var machine: WorkerMachine
    /// On their way to Redis.
    var messages: [Message] = []
    var transfers: [Transfer] = []
    /// Jobs whose bodies are on their way to the store, and how they end.
    var storing: [(token: LockToken, end: Conclusion)] = []
    /// The process stands still, and hears this when it goes on.
    var unheard: [WorkerMachine.Input]?
    private(set) var hasEnded = false
    /// Jobs for which it has asked the origin since this was read last.
    private(set) var asked: [Job] = []

    init(_ name: String, _ climate: FleetClimate, random: SeededBytes) {
        self.name = name
        var options = WorkerOptions()
        options.concurrency = climate.places
        options.hostLimit = climate.hostLimit
        options.lease = climate.lease
        options.retryPolicy.retries = climate.retries
        // A partition that asks for useless visits gets them, and is found out by their number.
        options.visitPauses.longest = options.visitPauses.first
        machine = WorkerMachine(options, worker: name, partitions: climate.partitions, inbox: name, random: random)
    }

    var isFrozen: Bool { unheard != nil }
    var options: WorkerOptions { machine.options }
    var isIdle: Bool { machine.jobs.isEmpty && messages.isEmpty }
    func wakeUp(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? { isFrozen ? nil : machine.wakeUp(after: now) }
    mutating func askedMeanwhile() -> [Job] {
        defer { asked = [] }
        return asked
    }

    mutating func take(_ inputs: [WorkerMachine.Input], at now: ContinuousClock.Instant) {
        if hasEnded { return }
        if unheard != nil {
            unheard! += inputs
            return
        }
        for action in machine.take(inputs, at: now) {
            switch action {
            case .send(let lane, let request): messages.append(Message(lane: lane, request: request))
            case .start(let job): start(job, at: now)
            case .cancel(let token, _):
                for index in transfers.indices where transfers[index].job.token == token { transfers[index].isCancelled = true }
            case .finish:
                hasEnded = true
                (messages, transfers, storing) = ([], [], [])
            case .report, .reportSilence, .leave, .settled: break
            }
        }
    }

    /// As the runner of jobs does: a request of this process for the same URL goes on for the new job.
    private mutating func start(_ job: Job, at now: ContinuousClock.Instant) {
        guard job.needsTransfer else {
            storing.append((job.token, Self.endWithoutTransfer(of: job)))
            return
        }
        if let index = transfers.firstIndex(where: { $0.job.id == job.id && !$0.isCancelled }) {
            let old = transfers[index].job.token
            transfers[index].job = job
            take([.adopted(old)], at: now)
        } else {
            transfers.append(Transfer(job: job))
            asked.append(job)
        }
    }

    private static func endWithoutTransfer(of job: Job) -> Conclusion {
        let outcome: Settlement.Outcome
        if let known = job.outcome {
            outcome = known.isNegative ? .failed(known.content, SimulatedFleet.forLong) : .delivered
        } else {
            outcome = .failed(OutcomeContent(url: job.url), SimulatedFleet.forLong)
        }
        return Conclusion(Settlement(job.token, job.id, outcome, isDelivery: job.outcome != nil), nil)
    }
}
