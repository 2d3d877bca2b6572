import GannetQueue
import GannetTestKit

/// The calls of a worker to the queue, without the fetches.
struct Worker {
    let queue: FetchQueue
    private let incarnation = Incarnation.random()
    private var exchanges = 0
    private(set) var held: [Job] = []

    init(_ queue: FetchQueue) { self.queue = queue }

    /// Ends all held jobs, each as `outcome` says, and takes others.
    /// - Returns: Whether there are jobs now, or the next call may bring some.
    @discardableResult
    mutating func exchange(_ wanted: Int, _ outcome: (Job) -> Settlement.Outcome = Worker.fetched) async throws -> Bool {
        exchanges += 1
        var request = ExchangeRequest(incarnation, number: exchanges, lease: .seconds(600))
        request.wanted = wanted
        request.host = HostRule(limit: 1000)
        request.random = 0.5
        request.settlements = held.map { job in
            let isKnown = job.outcome != nil
            return Settlement(
                job.token, job.id, isKnown ? .delivered : outcome(job), host: isKnown ? .none : .answered,
                bytesFetched: isKnown ? 0 : Self.bodySize, isDelivery: isKnown)
        }
        guard let answer = try await queue.exchange(request, in: queue.cluster.home), answer.verdicts.allSatisfy({ $0 == .settled }) else {
            throw KitError("The worker has lost its jobs.")
        }
        held = answer.jobs
        return !held.isEmpty || answer.isMore
    }

    /// Fetches about so many jobs with so many in each exchange, and settles all of them. Returns how many there were.
    mutating func fetch(_ count: Int, _ jobsPerCall: Int) async throws -> Int {
        var done = 0
        while done < count, try await exchange(jobsPerCall) { done += held.count }
        try await exchange(0)
        return done
    }

    private static let bodySize = 10_000

    static func fetched(_ job: Job) -> Settlement.Outcome {
        var content = OutcomeContent(url: job.url)
        content.digest = job.id.bytes + job.id.bytes
        content.status = 200
        content.size = bodySize
        return .fetched(content, Retention(fresh: .seconds(3600), keep: .seconds(86_400)))
    }

    static func handedBack(_: Job) -> Settlement.Outcome { .handedBack }

    /// The job's host rests for a day.
    static func throttled(_ job: Job) -> Settlement.Outcome { .throttled(OutcomeContent(url: job.url), for: .seconds(86_400)) }
}
