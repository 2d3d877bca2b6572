internal import ClusterState

/// Decides when a worker claims, waits and ends: no clock, queue or task inside.
///
/// A worker claims only what it can start at once: a job on lease that waits in line behind others could run on another worker.
struct WorkerMachine {
    enum Action: Equatable {
        case claim(Int)
        /// Look again after this time at the latest, if nothing is heard before; somewhat sooner where that is permitted, so
        /// that idle workers do not all look at once.
        case lookAgain(after: Duration, maybeSooner: Bool)
        case finish
    }

    private let concurrency: Int
    private let idleLook: Duration
    private let endsWhenEmpty: Bool

    /// Its queue is being filled: that it is empty means nothing yet.
    private var isFed: Bool

    private(set) var active = 0
    private var claiming: Int?
    private var isStopping = false
    private var isDone = false

    /// What a claim has brought may be on lease to us without our knowing it.
    private(set) var isClaimUnanswered = false

    /// What waits is for a worker of another version, as far as the last claim could see.
    private(set) var onlyForeignWait = false

    /// Something may be claimable: nothing has shown the contrary since it was last announced.
    private var mayFindWork = true

    /// A claim is on its way: what is announced meanwhile may have come too late for it.
    private var heardWhileClaiming = false

    /// What is due at once is looked for after this: a claim that finds nothing all the same must not be followed by the next.
    private static let shortestPause = Duration.milliseconds(5)

    init(_ options: WorkerOptions, isFed: Bool = false) {
        self.isFed = isFed
        concurrency = options.concurrency
        idleLook = options.idleLook
        endsWhenEmpty = options.endsWhenEmpty
    }

    /// The first claim.
    mutating func start() -> [Action] { decide() }

    /// A claim has brought `count` jobs.
    /// - Parameters:
    ///   - left: What is left in the queue, whoever has it.
    ///   - isMore: There may be more for another claim at once.
    ///   - next: When something falls due, or a lease may have ended.
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

    /// A claim came to nothing, for now.
    /// - Parameter mayHaveBrought: Or to jobs that nobody has been told of: it has to be repeated before this worker can leave.
    mutating func claimFailed(retryAfter pause: Duration, mayHaveBrought: Bool) -> [Action] {
        claiming = nil
        isClaimUnanswered = isClaimUnanswered || mayHaveBrought
        mayFindWork = false
        heardWhileClaiming = false
        let actions = decide()
        return actions.isEmpty ? [.lookAgain(after: pause, maybeSooner: true)] : actions
    }

    /// A claim came to nothing, and none will succeed.
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

    /// All jobs there will be are in the queue.
    mutating func feedEnded() -> [Action] {
        isFed = false
        return heard()
    }

    /// A job has ended. Its host has room for another, and those that waited for its URL can be claimed; nobody else is told of that.
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
