internal import ClusterState
internal import GannetBasics

/// The transfers of this process, by URL. Every job passes through here before the network.
///
/// A job that was claimed again, while this process still fetches its URL, adopts that transfer under its new token: the origin sees one
/// request. The job that had the transfer before has lost its lock, and ends. A transfer is handed to one job, and its body is not kept here.
actor LocalFetches<Outcome: Sendable> {
    enum End: Sendable {
        /// The transfer has ended, by itself or for this reason.
        case ended(Outcome, WorkerMachine.Cancellation?)
        /// Another job has the transfer now.
        case adopted
    }

    private struct Fetch {
        let id: URLID
        /// Queue time, ms. The transfer began later.
        let began: Int
        let adopt: @Sendable (Job) -> Void
        var owner: LockToken
        var waiter: CheckedContinuation<End, Never>
        var task: Task<Void, Never>?
        var cancellation: WorkerMachine.Cancellation?
    }

    private var fetches: [Int: Fetch] = [:]
    private var last = 0
    private var numbers: [LockToken: Int] = [:]
    /// The latest transfer of a URL.
    private var latest: [URLID: Int] = [:]

    /// Waits for the transfer of a job's URL: for the one that runs, or for a new one.
    ///
    /// The id stands for the URL and its headers, so these are equal. A transfer that began before the job was enqueued is none for it.
    /// - Parameters:
    ///   - handle: Cancels the job's transfer.
    ///   - adopt: Called when another job takes the transfer that `transfer` makes.
    func fetch(
        _ claimed: ClaimedJob, _ handle: TransferHandle, adopt: @escaping @Sendable (Job) -> Void,
        transfer: @escaping @Sendable () async -> Outcome
    ) async -> End {
        let token = claimed.job.token
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                if !joins(claimed.job, waiter) { begin(claimed, waiter, adopt, transfer) }
                handle.whenCancelled { reason in Task { await self.cancel(token, reason) } }
            }
        } onCancel: {
            handle.cancel(.handedBack)
        }
    }

    private func joins(_ job: Job, _ waiter: CheckedContinuation<End, Never>) -> Bool {
        guard let number = latest[job.id], let fetch = fetches[number], fetch.cancellation == nil, fetch.began >= job.enqueued else {
            return false
        }
        fetches[number]?.owner = job.token
        fetches[number]?.waiter = waiter
        numbers[fetch.owner] = nil
        numbers[job.token] = number
        fetch.adopt(job)
        fetch.waiter.resume(returning: .adopted)
        return true
    }

    private func begin(
        _ claimed: ClaimedJob, _ waiter: CheckedContinuation<End, Never>, _ adopt: @escaping @Sendable (Job) -> Void,
        _ transfer: @escaping @Sendable () async -> Outcome
    ) {
        let job = claimed.job
        last += 1
        let number = last
        fetches[number] = Fetch(id: job.id, began: claimed.now, adopt: adopt, owner: job.token, waiter: waiter)
        numbers[job.token] = number
        latest[job.id] = number
        // A task of its own: it outlives its first job where another one adopts it. Some job waits for its end in any case.
        let task = Task { self.end(number, await transfer()) }
        fetches[number]?.task = task
    }

    private func end(_ number: Int, _ outcome: Outcome) {
        guard let fetch = fetches.removeValue(forKey: number) else { return }
        numbers[fetch.owner] = nil
        if latest[fetch.id] == number { latest[fetch.id] = nil }
        fetch.waiter.resume(returning: .ended(outcome, fetch.cancellation))
    }

    private func cancel(_ token: LockToken, _ reason: WorkerMachine.Cancellation) {
        guard let number = numbers[token], let fetch = fetches[number] else { return }
        if fetch.cancellation == nil { fetches[number]?.cancellation = reason }
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
