import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

/// Producers, workers and callers of two queues that do anything at any time.
struct RandomTraffic {
    enum State: CaseIterable { case ready, active, parked, delayed, dead, cancelled }

    static let allStates = Set(State.allCases)

    /// The states in which jobs have been seen.
    private(set) var states: Set<State> = []

    private let fixture: QueueFixture
    private let queues: [FetchQueue]
    private var random: SeededBytes
    private var batches: [(queue: FetchQueue, progress: BatchProgress)] = []
    private var held: [Job] = []
    private var workers: [Incarnation: Int] = [:]
    private var callers: [(token: LockToken, id: URLID)] = []

    init(_ fixture: QueueFixture, seed: UInt64) {
        self.fixture = fixture
        queues = [fixture.queue, fixture.cluster.queue("another queue")]
        random = SeededBytes(seed: seed)
    }

    /// Does one thing, and says what.
    mutating func step(moving clock: MovableClock) async throws -> String {
        try await look()
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1: return try await begin()
        case 2..<5: return try await enqueue()
        case 5..<10: return try await claim()
        case 10..<15: return try await settle()
        case 15: return try await acquire()
        case 16: return try await settleCaller()
        case 17:
            clock.advance(by: .milliseconds(Int.random(in: 0..<20_000, using: &random)))
            return "time"
        case 18:
            if let batch = batches.suffix(8).randomElement(using: &random) {
                _ = try await batch.queue.cancel(batch: batch.progress.number)
            }
            return "cancel"
        default:
            let queue = queues.randomElement(using: &random)!
            if Int.random(in: 0..<8, using: &random) == 0 { try await queue.reclaimAll() }
            return "reclaim"
        }
    }

    private mutating func begin() async throws -> String {
        var options = BatchOptions()
        options.priority = Priority.allCases.randomElement(using: &random)!
        options.refresh = Int.random(in: 0..<3, using: &random) == 0
        let queue = queues.randomElement(using: &random)!
        batches.append((queue, try await queue.begin(batch: "b\(batches.count)", options: options)))
        return "begin"
    }

    private mutating func enqueue() async throws -> String {
        guard let index = batches.indices.suffix(8).randomElement(using: &random) else { return "nothing" }
        let count = Int.random(in: 0..<12, using: &random)
        let entries = try (0..<count).map { _ in try QueueFixture.entry(Int.random(in: 0..<40, using: &random), hosts: 5) }
        let delay = Int.random(in: 0..<4, using: &random) == 0 ? Duration.seconds(20) : .zero
        let closes = Int.random(in: 0..<6, using: &random) == 0
        let offset = batches[index].progress.offset
        let rows = entries.enumerated().map { (entry: $1, row: offset + $0 + 1) }
        var progress = batches[index].progress
        let queue = batches[index].queue
        do throws(StateError) {
            _ = try await queue.enqueue(rows, to: offset + count, of: &progress, closing: closes, delay: delay)
        } catch {
            guard error == .batchClosed || error == .batchCancelled else { throw error }
            return "enqueue"
        }
        batches[index].progress = progress
        return "enqueue"
    }

    /// An exchange of one of four workers. A worker whose lease has ended begins another life, and holds nothing then.
    private mutating func exchange(_ change: (inout ExchangeRequest) -> Void) async throws {
        if workers.count < 4 { workers[Incarnation(random.next())] = 0 }
        let incarnation = workers.keys.sorted { $0.number < $1.number }.randomElement(using: &random)!
        workers[incarnation, default: 0] += 1
        var request = ExchangeRequest(incarnation, number: workers[incarnation, default: 0], lease: .seconds(30))
        request.host = HostRule(limit: 2, interval: .milliseconds(Bool.random(using: &random) ? 0 : 200))
        request.mostDead = 5
        request.random = 0.5
        change(&request)
        if let answer = try await queues.randomElement(using: &random)!.exchange(request, in: fixture.cluster.home) {
            held += answer.jobs
        } else {
            workers[incarnation] = nil
        }
    }

    private mutating func claim() async throws -> String {
        let wanted = Int.random(in: 0..<12, using: &random)
        try await exchange { $0.wanted = wanted }
        return "claim"
    }

    /// Any worker's exchange may carry any outcome: only its token counts.
    private mutating func settle() async throws -> String {
        held.shuffle(using: &random)
        let settled = Array(held.suffix(Int.random(in: 1..<5, using: &random)))
        held.removeLast(settled.count)
        var settlements: [Settlement] = []
        for job in settled {
            let hosts: [Settlement.HostNews] = [.none, .answered, .silent]
            settlements.append(
                Settlement(
                    job.token, job.entry.id, outcome(job), host: hosts.randomElement(using: &random)!, isDelivery: job.outcome != nil))
        }
        try await exchange { $0.settlements = settlements }
        return "settle"
    }

    private mutating func outcome(_ job: Job) -> Settlement.Outcome {
        let digest = [UInt8](repeating: 7, count: 32)
        if job.outcome != nil { return Bool.random(using: &random) ? .delivered : .bodyMissing(digest: digest) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5: return QueueFixture.fetched(job.entry.url, fresh: .seconds(10), isStored: Bool.random(using: &random))
        case 5: return .failed(OutcomeContent(url: job.entry.url), Retention(fresh: .seconds(5), keep: .seconds(5)))
        case 6: return QueueFixture.retried(job.url, after: .seconds(Int.random(in: 0..<30, using: &random)))
        case 7: return .throttled(OutcomeContent(url: job.url), for: Bool.random(using: &random) ? nil : .seconds(15))
        default: return .handedBack
        }
    }

    private mutating func acquire() async throws -> String {
        let number = Int.random(in: 0..<40, using: &random)
        var request = AcquireRequest(
            id: QueueFixture.id(number), host: "h\(number % 5)", incarnation: Incarnation(random.next()), nonce: random.next(),
            lease: .seconds(30))
        request.inbox = "inbox"
        if case .leased(let token, _) = try await fixture.cluster.acquire(request).fate { callers.append((token, request.id)) }
        return "acquire"
    }

    private mutating func settleCaller() async throws -> String {
        guard let index = callers.indices.randomElement(using: &random) else { return "nothing" }
        let (token, id) = callers.remove(at: index)
        let outcome = Bool.random(using: &random) ? Settlement.Outcome.handedBack : QueueFixture.fetched("http://h/", fresh: .seconds(10))
        var request = ExchangeRequest(token.incarnation, number: 1, lease: .seconds(30))
        request.settlements = [Settlement(token, id, outcome)]
        _ = try await fixture.cluster.exchange(request, in: fixture.cluster.home)
        return "settle of a caller"
    }

    private mutating func look() async throws {
        for queue in queues {
            let counts = try await queue.counts()
            let seen: [(State, Int)] = [
                (.ready, counts.ready), (.active, counts.active), (.parked, counts.parked), (.delayed, counts.delayed),
                (.dead, counts.dead), (.cancelled, counts.cancelled),
            ]
            for (state, number) in seen where number > 0 { states.insert(state) }
        }
    }
}
