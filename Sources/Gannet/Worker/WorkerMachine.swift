/// Decides when a worker claims, waits and ends: no clock, queue or task inside.
///
/// A worker claims only what it can start at once: a job on lease that waits in line behind others could run on another worker.
struct WorkerMachine {
    enum Action: Equatable {
        case claim(Int)
        /// Look again after this time at the latest, if nothing is heard before.
        case lookAgain(after: Duration)
        case finish
    }

    private let concurrency: Int
    private let idleLook: Duration
    private let endsWhenEmpty: Bool

    private(set) var active = 0
    private var claiming: Int?
    private var isStopping = false
    private var isDone = false

    private var foreignInRow = 0

    /// What waits is for a worker of another version, as far as the last claim could see.
    private(set) var onlyForeignWait = false

    /// Something may be claimable: nothing has shown the contrary since it was last announced.
    private var mayFindWork = true

    /// A claim is on its way: what is announced meanwhile may have come too late for it.
    private var heardWhileClaiming = false

    init(_ options: WorkerOptions) {
        concurrency = options.concurrency
        idleLook = options.idleLook
        endsWhenEmpty = options.endsWhenEmpty
    }

    /// The first claim.
    mutating func start() -> [Action] { decide() }

    /// A claim has brought `count` jobs.
    /// - Parameters:
    ///   - ended: Jobs it ended instead.
    ///   - foreign: Jobs of another version that it met and put behind all others.
    ///   - waiting: Jobs that wait now, those among them.
    ///   - nextLeaseEnd: When a lease of anyone ends; `nil` when nothing is in flight anywhere.
    mutating func claimed(_ count: Int, ended: Int = 0, foreign: Int = 0, waiting: Int = 0, nextLeaseEnd: Duration?) -> [Action] {
        let asked = claiming ?? 0
        claiming = nil
        active += count
        foreignInRow = count + ended > 0 ? foreign : foreignInRow + foreign
        // As many in a row as there are: all that waits has been looked at.
        onlyForeignWait = waiting > 0 && foreignInRow >= waiting
        // What it ended may have been all there was; the claim looked before.
        mayFindWork = (count + ended + foreign == asked && !onlyForeignWait) || ended > 0 || heardWhileClaiming
        heardWhileClaiming = false
        if endsWhenEmpty, count == 0, active == 0, nextLeaseEnd == nil, !mayFindWork {
            isDone = true
            return [.finish]
        }
        let actions = decide()
        if !actions.isEmpty || isStopping { return actions }
        return [.lookAgain(after: min(idleLook, max(nextLeaseEnd ?? idleLook, .milliseconds(10))))]
    }

    /// A claim came to nothing, for now.
    mutating func claimFailed(retryAfter pause: Duration) -> [Action] {
        claiming = nil
        mayFindWork = false
        heardWhileClaiming = false
        return isStopping ? decide() : [.lookAgain(after: pause)]
    }

    /// New jobs were announced, or it is time to look.
    mutating func heard() -> [Action] {
        mayFindWork = true
        heardWhileClaiming = claiming != nil
        return decide()
    }

    mutating func jobEnded() -> [Action] {
        active -= 1
        // The last one out looks whether the queue is empty.
        if active == 0, endsWhenEmpty { mayFindWork = true }
        return decide()
    }

    mutating func stop() -> [Action] {
        isStopping = true
        return decide()
    }

    private mutating func decide() -> [Action] {
        if isDone || claiming != nil { return [] }
        if isStopping {
            guard active == 0 else { return [] }
            isDone = true
            return [.finish]
        }
        guard mayFindWork, active < concurrency else { return [] }
        claiming = concurrency - active
        return [.claim(concurrency - active)]
    }
}
