internal import GannetBase
internal import Synchronization

/// A few threads that work with files for tasks that wait: a slow disk, or a network file system, may block a thread for seconds.
///
/// The threads start when they are needed, and end with this object. When no thread can be started, the waiting jobs are refused, and the
/// next job tries again.
final class FileThreads: Sendable {
    /// The outcome of a job.
    enum Outcome<Value: Sendable>: Sendable {
        case done(Value)
        /// Too many jobs wait, or there is no thread.
        case refused
        /// The caller was cancelled.
        case left
    }

    /// The caller of a job, which may have left while the job runs.
    final class Caller: Sendable {
        private let hasLeft = Atomic(false)

        var isGone: Bool { hasLeft.load(ordering: .relaxed) }
        func leave() { hasLeft.store(true, ordering: .relaxed) }
    }

    struct Job: Sendable {
        let run: @Sendable () -> Void
        let refuse: @Sendable () -> Void
    }

    typealias Queues = JobQueues<Job>

    private struct State {
        var queues: Queues
        var threads = 0
        var idle = 0
        var isClosed = false

        /// The thread to call for the waiting jobs. A new thread is counted from now on.
        mutating func help(_ most: Int) -> Help {
            guard queues.hasNext else { return .none }
            if idle > 0 { return .idle }
            guard threads < most else { return .none }
            threads += 1
            return .new
        }
    }

    private enum Help {
        case none, idle, new
    }

    private let state: Condition<State>
    private let most: Int

    init(_ limits: Queues.Limits) {
        state = Condition(State(queues: Queues(limits)))
        most = limits.threads
    }

    deinit {
        state.withLock { $0.isClosed = true }
        state.wakeAll()
    }

    /// Runs `work` on one of the threads. Returns at once when the task is cancelled, whatever the disk does.
    /// - Parameters:
    ///   - bytes: The memory that the job holds until its turn.
    ///   - mayBeRefused: Whether the job is refused when too many wait. Otherwise it waits too.
    func run<Value: Sendable>(
        _ kind: Queues.Kind, bytes: Int = 0, mayBeRefused: Bool = true,
        _ work: @escaping @Sendable (Caller) -> Value
    ) async -> Outcome<Value> {
        let job = FileJob(work)
        let ticket = Mutex<Queues.Ticket?>(nil)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard job.attach(continuation) else { return }
                submit(Job(run: job.run, refuse: job.refuse), to: kind, bytes: bytes, mayBeRefused: mayBeRefused) { taken in
                    ticket.withLock { $0 = taken }
                }
            }
        } onCancel: {
            job.leave()
            // A job that is placed after this moment finds its caller gone.
            if let ticket = ticket.withLock({ $0 }) { _ = state.withLock { $0.queues.remove(ticket) } }
        }
    }

    /// Runs `work` when nothing more urgent waits. Does nothing when such work waits already, or there is no thread.
    func tidy(_ work: @escaping @Sendable () -> Void) {
        submit(Job(run: work, refuse: {}), to: .tidying, bytes: 0, mayBeRefused: true) { _ in }
    }

    private func submit(
        _ job: Job, to kind: Queues.Kind, bytes: Int, mayBeRefused: Bool, admitted: (Queues.Ticket) -> Void
    ) {
        let (ticket, help) = state.withLock { state in
            let ticket = state.queues.add(job, to: kind, bytes: bytes, mayBeRefused: mayBeRefused)
            return (ticket, state.help(most))
        }
        guard let ticket else { return job.refuse() }
        admitted(ticket)
        Self.give(help, state, most)
    }

    private static func give(_ help: Help, _ state: Condition<State>, _ most: Int) {
        switch help {
        case .none: return
        case .idle: return state.wake()
        case .new: break
        }
        guard OwnedThread(name: "gannet-files", { work(state, most) }) == nil else { return }
        let stranded = state.withLock { state in
            state.threads -= 1
            return state.threads == 0 ? state.queues.removeAll() : []
        }
        for job in stranded { job.refuse() }
    }

    private static func work(_ state: Condition<State>, _ most: Int) {
        var last: Queues.Kind?
        while true {
            let ended = last
            var isFirstLook = true
            let next = state.wait { state -> (job: Job, kind: Queues.Kind)?? in
                if isFirstLook {
                    if let ended { state.queues.ended(ended) }
                } else {
                    state.idle -= 1
                }
                isFirstLook = false
                if let next = state.queues.next() { return .some(next) }
                if state.isClosed { return .some(nil) }
                state.idle += 1
                return nil
            }
            guard let next else { return }
            // A woken thread counts as idle until it runs, so no thread was called for jobs that were added meanwhile.
            give(state.withLock { $0.help(most) }, state, most)
            next.job.run()
            last = next.kind
        }
    }
}

/// A job for a caller that may leave before it is done.
private final class FileJob<Value: Sendable>: Sendable {
    private enum State {
        case new
        case awaited(CheckedContinuation<FileThreads.Outcome<Value>, Never>)
        case over
    }

    private let work: @Sendable (FileThreads.Caller) -> Value
    private let caller = FileThreads.Caller()
    private let state = Mutex(State.new)

    init(_ work: @escaping @Sendable (FileThreads.Caller) -> Value) { self.work = work }

    /// False when the caller has left already. The continuation is then resumed.
    func attach(_ continuation: CheckedContinuation<FileThreads.Outcome<Value>, Never>) -> Bool {
        let isOver = state.withLock { state in
            if case .over = state { return true }
            state = .awaited(continuation)
            return false
        }
        if isOver { continuation.resume(returning: .left) }
        return !isOver
    }

    func run() {
        guard !caller.isGone else { return }
        finish(.done(work(caller)))
    }

    func refuse() { finish(.refused) }

    func leave() {
        caller.leave()
        finish(.left)
    }

    private func finish(_ outcome: FileThreads.Outcome<Value>) {
        let continuation = state.withLock { state -> CheckedContinuation<FileThreads.Outcome<Value>, Never>? in
            defer { state = .over }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(returning: outcome)
    }
}
