internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The transfers of this process, by URL. Every job passes through here before the network.
///
/// A job that was claimed again, while this process still fetches its URL, adopts that transfer under its new token: the origin sees one
/// request. The job that had the transfer before has lost its lock, and ends. A transfer is handed to one job, and its body is not kept here.
actor LocalFetches {
    /// A transfer that has ended. An object, because it passes through many hands and takes much room.
    final class Transferred: Sendable {
        let outcome: JobAttempt.Outcome
        let moves: HostMoves
        let wire: WireRecord?

        init(_ outcome: JobAttempt.Outcome, _ moves: HostMoves, _ wire: WireRecord? = nil) {
            self.outcome = outcome
            self.moves = moves
            self.wire = wire
        }

        var fetched: JobAttempt.Fetched? {
            guard case .fetched(let fetched) = outcome else { return nil }
            return fetched
        }

        /// The bytes in memory of a body that has to be stored; `nil` where there is no such body.
        var bytesToStore: Int? {
            guard let body = fetched?.download.body else { return nil }
            guard case .bytes(let bytes) = body else { return 0 }
            return bytes.count
        }
    }

    enum End: Sendable {
        /// The transfer has ended, by itself or for this reason.
        case ended(Transferred, WorkerMachine.Cancellation?)
        /// Another job has the transfer now.
        case adopted
    }

    private final class Fetch {
        let id: URLID
        /// Queue time, ms. The transfer began later.
        let began: Int
        let manners: Manners
        let keepsWire: Bool
        let adopt: @Sendable (Job) -> Void
        var owner: LockToken
        var waiter: CheckedContinuation<End, Never>
        var task: Task<Void, Never>?
        var cancellation: WorkerMachine.Cancellation?

        init(_ claimed: ClaimedJob, _ waiter: CheckedContinuation<End, Never>, adopt: @escaping @Sendable (Job) -> Void) {
            id = claimed.job.id
            began = claimed.now
            manners = claimed.job.manners
            keepsWire = claimed.job.keepsWire
            self.adopt = adopt
            owner = claimed.job.token
            self.waiter = waiter
        }
    }

    private let executor: (any TaskExecutor)?
    private var byOwner: [LockToken: Fetch] = [:]
    /// The latest transfer of a URL.
    private var latest: [URLID: Fetch] = [:]

    /// - Parameter executor: Runs the transfers' tasks.
    init(on executor: (any TaskExecutor)?) { self.executor = executor }

    /// Waits for the transfer of a job's URL: for the one that runs, or for a new one.
    ///
    /// The id stands for the URL and its headers, so these are equal. A transfer that began before the job was enqueued is none for it, and
    /// neither is a transfer with other manners, or without the exchanges that the job keeps.
    /// - Parameters:
    ///   - handle: Cancels the job's transfer.
    ///   - adopt: Called when another job takes the transfer that `transfer` makes.
    func fetch(
        _ claimed: ClaimedJob, _ handle: TransferHandle, adopt: @escaping @Sendable (Job) -> Void,
        transfer: @escaping @Sendable () async -> Transferred
    ) async -> End {
        let token = claimed.job.token
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                if !joins(claimed.job, waiter) { begin(Fetch(claimed, waiter, adopt: adopt), transfer) }
                handle.whenCancelled { reason in Task { await self.cancel(token, reason) } }
            }
        } onCancel: {
            handle.cancel(.handedBack)
        }
    }

    private func joins(_ job: Job, _ waiter: CheckedContinuation<End, Never>) -> Bool {
        guard let fetch = latest[job.id], fetch.cancellation == nil, fetch.began >= job.enqueued, fetch.manners == job.manners,
            fetch.keepsWire || !job.keepsWire
        else { return false }
        byOwner[fetch.owner] = nil
        byOwner[job.token] = fetch
        let former = fetch.waiter
        fetch.owner = job.token
        fetch.waiter = waiter
        fetch.adopt(job)
        former.resume(returning: .adopted)
        return true
    }

    private func begin(_ fetch: Fetch, _ transfer: @escaping @Sendable () async -> Transferred) {
        byOwner[fetch.owner] = fetch
        latest[fetch.id] = fetch
        // A task of its own: it outlives its first job where another one adopts it. Some job waits for its end in any case.
        // Only the actor touches it. A task with an executor cannot say so.
        nonisolated(unsafe) let begun = fetch
        fetch.task = Task(executorPreference: executor) { await self.end(begun, await transfer()) }
    }

    private func end(_ fetch: Fetch, _ transferred: Transferred) {
        byOwner[fetch.owner] = nil
        if latest[fetch.id] === fetch { latest[fetch.id] = nil }
        fetch.waiter.resume(returning: .ended(transferred, fetch.cancellation))
    }

    private func cancel(_ token: LockToken, _ reason: WorkerMachine.Cancellation) {
        guard let fetch = byOwner[token] else { return }
        fetch.cancellation = fetch.cancellation ?? reason
        fetch.task?.cancel()
    }
}

/// Cancels the transfer of one job, also before it has begun.
final class TransferHandle: Sendable {
    private struct State {
        var reason: WorkerMachine.Cancellation?
        var action: (@Sendable (WorkerMachine.Cancellation) -> Void)?
    }

    private let state = Mutex(State())

    func cancel(_ reason: WorkerMachine.Cancellation) {
        let action = state.withLock { state in
            state.reason = state.reason ?? reason
            return state.action
        }
        action?(reason)
    }

    func whenCancelled(_ action: @escaping @Sendable (WorkerMachine.Cancellation) -> Void) {
        let reason = state.withLock { state in
            state.action = action
            return state.reason
        }
        if let reason { action(reason) }
    }
}
