internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The attempts of this process, by URL. Every job that needs a transfer passes through here before the network.
///
/// A job that was claimed again, while this process still fetches its URL, adopts that attempt under its new token: the origin sees one
/// request. The job that had the attempt before has lost its lock, and ends. A result goes to one job, and is not kept here.
actor LocalFetches {
    private final class Fetch {
        let attempt: JobAttempt
        var task: Task<Void, Never>?
        /// Of the job that gets the result.
        var handle: TransferHandle
        var waiter: CheckedContinuation<AttemptResult?, Never>

        init(_ attempt: JobAttempt, _ handle: TransferHandle, _ waiter: CheckedContinuation<AttemptResult?, Never>) {
            self.attempt = attempt
            self.handle = handle
            self.waiter = waiter
        }
    }

    private let executor: (any TaskExecutor)?
    /// The latest attempt at a URL.
    private var latest: [URLID: Fetch] = [:]

    /// - Parameter executor: Runs the attempts' tasks.
    init(on executor: (any TaskExecutor)?) { self.executor = executor }

    /// Waits for the result of an attempt at a job's URL: of the one that runs, or of this one.
    ///
    /// The id stands for the URL and its headers, so these are equal. An attempt that began before the job was enqueued is none for it, and
    /// neither is an attempt with other manners, or without the exchanges that the job keeps.
    /// - Parameter handle: Cancels the job's transfer.
    /// - Returns: `nil` where another job has adopted the attempt.
    func result(of attempt: JobAttempt, _ handle: TransferHandle) async -> AttemptResult? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let task = adopted(by: attempt.job, handle, waiter) ?? begun(Fetch(attempt, handle, waiter))
                handle.whenCancelled { task.cancel() }
            }
        } onCancel: {
            handle.cancel(.handedBack)
        }
    }

    /// The task of an attempt that goes on for this job.
    private func adopted(
        by job: Job, _ handle: TransferHandle, _ waiter: CheckedContinuation<AttemptResult?, Never>
    ) -> Task<Void, Never>? {
        guard let fetch = latest[job.id], fetch.attempt.job.handedOut >= job.enqueued, fetch.attempt.job.manners == job.manners,
            fetch.attempt.job.keepsWire || !job.keepsWire, fetch.handle.letGo()
        else { return nil }
        let former = fetch.waiter
        (fetch.handle, fetch.waiter) = (handle, waiter)
        fetch.attempt.adopt(job)
        former.resume(returning: nil)
        return fetch.task
    }

    /// A task of its own: it outlives its first job where another one adopts it. Some job waits for its end in any case.
    private func begun(_ fetch: Fetch) -> Task<Void, Never> {
        let attempt = fetch.attempt
        latest[attempt.job.id] = fetch
        // Only the actor touches it. A task with an executor cannot say so.
        nonisolated(unsafe) let fetch = fetch
        let task = Task(executorPreference: executor) { await self.end(fetch, await attempt.run()) }
        fetch.task = task
        return task
    }

    private func end(_ fetch: Fetch, _ result: AttemptResult) {
        let id = fetch.attempt.job.id
        if latest[id] === fetch { latest[id] = nil }
        fetch.waiter.resume(returning: result)
    }
}

/// Cancels the transfer of one job, also before it has begun.
final class TransferHandle: Sendable {
    private struct State {
        var reason: WorkerMachine.Cancellation?
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Why the transfer was cancelled; `nil` if it was not.
    var reason: WorkerMachine.Cancellation? { state.withLock { $0.reason } }

    func cancel(_ reason: WorkerMachine.Cancellation) {
        let action = state.withLock { state in
            state.reason = state.reason ?? reason
            return state.action
        }
        action?()
    }

    func whenCancelled(_ action: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.action = action
            return state.reason != nil
        }
        if isCancelled { action() }
    }

    /// The transfer goes on for another job, unless it was cancelled. This handle can cancel it no more.
    func letGo() -> Bool {
        state.withLock { state in
            if state.reason != nil { return false }
            state.action = nil
            return true
        }
    }
}
