internal import ClusterState

/// Decides when a worker claims, waits and ends. It has no clock, queue or task inside.
///
/// A worker claims only jobs that it can start at once. A leased job that has to wait in one worker could run on another.
struct WorkerMachine {
    enum Action: Equatable {
        case claim(Int)
        /// Look for jobs after this time, unless jobs are announced before. The pause may be somewhat shorter if `maybeSooner` says so:
        /// then idle workers do not all look at the same time.
        case lookAgain(after: Duration, maybeSooner: Bool)
        case finish
    }

    private let concurrency: Int
    private let idleLook: Duration
    private let endsWhenEmpty: Bool

    /// The queue is still being filled, so an empty queue does not end the worker.
    private var isFed: Bool

    private(set) var active = 0
    private var claiming: Int?
    private var isStopping = false
    private var isDone = false

    /// A claim got no answer. Redis may have leased jobs to this worker that it does not know of.
    private(set) var isClaimUnanswered = false

    /// The last claim saw only jobs that a newer version can read.
    private(set) var onlyForeignWait = false

    /// A claim may find jobs: none has shown the contrary since jobs were last announced.
    private var mayFindWork = true

    /// Jobs were announced during a claim. They may have come too late for it.
    private var heardWhileClaiming = false

    /// The least pause before a look for jobs that are due at once. It bounds the rate of claims that still find none.
    private static let shortestPause = Duration.milliseconds(5)

    init(_ options: WorkerOptions, isFed: Bool = false) {
        self.isFed = isFed
        concurrency = options.concurrency
        idleLook = options.idleLook
        endsWhenEmpty = options.endsWhenEmpty
    }

    mutating func start() -> [Action] { decide() }

    /// A claim has brought `count` jobs.
    /// - Parameters:
    ///   - left: Whether the queue has unfinished jobs, including those of other workers.
    ///   - isMore: Whether another claim may bring more jobs at once.
    ///   - next: The time until a job falls due, or until a lease may have ended.
    mutating func claimed(_ count: Int, left: Claim.Left, isMore: Bool, next: Duration?) -> [Action] {
        let asked = claiming ?? 0
        claiming = nil
        isClaimUnanswered = false
        active += count
        onlyForeignWait = left == .onlyForeign
        mayFindWork = isMore || count == asked || heardWhileClaiming
        heardWhileClaiming = false
        if endsWhenEmpty, !isFed, left != .jobs, active == 0, !mayFindWork {
            isDone = true
            return [.finish]
        }
        let actions = decide()
        if !actions.isEmpty || isStopping { return actions }
        if let next, next < idleLook { return [.lookAgain(after: max(next, Self.shortestPause), maybeSooner: false)] }
        return [.lookAgain(after: idleLook, maybeSooner: true)]
    }

    /// A claim failed, but a later one may succeed.
    /// - Parameter mayHaveBrought: Whether Redis may have leased jobs all the same. Then the worker has to repeat the claim before it ends.
    mutating func claimFailed(retryAfter pause: Duration, mayHaveBrought: Bool) -> [Action] {
        claiming = nil
        isClaimUnanswered = isClaimUnanswered || mayHaveBrought
        mayFindWork = false
        heardWhileClaiming = false
        let actions = decide()
        return actions.isEmpty ? [.lookAgain(after: pause, maybeSooner: true)] : actions
    }

    /// A claim failed, and no later one will succeed.
    mutating func claimGivenUp() -> [Action] {
        claiming = nil
        isClaimUnanswered = false
        return stop()
    }

    /// New jobs were announced, or it is time to look.
    mutating func heard() -> [Action] {
        mayFindWork = true
        heardWhileClaiming = claiming != nil
        return decide()
    }

    /// The queue has been filled: there will be no more jobs.
    mutating func feedEnded() -> [Action] {
        isFed = false
        return heard()
    }

    /// A job has ended. Its host has a free place, and jobs that waited for its URL can be claimed. No other worker is told of that.
    mutating func jobEnded() -> [Action] {
        active -= 1
        return heard()
    }

    mutating func stop() -> [Action] {
        isStopping = true
        return decide()
    }

    private mutating func decide() -> [Action] {
        if isDone || claiming != nil { return [] }
        if isStopping {
            if isClaimUnanswered { return mayFindWork ? claim() : [] }
            guard active == 0 else { return [] }
            isDone = true
            return [.finish]
        }
        guard mayFindWork, active < concurrency else { return [] }
        return claim()
    }

    private mutating func claim() -> [Action] {
        let limit = min(concurrency - active, ClaimRequest.mostJobs)
        claiming = limit
        return [.claim(limit)]
    }
}
