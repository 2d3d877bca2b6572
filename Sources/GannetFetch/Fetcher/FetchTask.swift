internal import FoundationEssentials
internal import GannetBase
public import GannetHTTP

/// A fetch that can be watched, made more urgent, and cancelled, such as that of a cell in a list.
///
/// It begins when it is made, and goes on if nobody holds it or waits for it. It shares its transfer with all other callers of the URL.
///
/// ```swift
/// let task = fetcher.task(for: FetchRequest(url))
/// for await progress in task.progress { show(progress) }
/// let data = try await task.value
/// ```
public final class FetchTask<Value: Sendable>: Sendable {
    private let caller: ChangingPriority
    private let relay: ProgressRelay
    private let outcome: TaskOutcome<Value>
    private let task: Task<Void, Never>
    /// For waiters that are cancelled.
    private let cancellation: FetchError

    init(
        _ request: FetchRequest, _ fetch: @escaping @Sendable (AnswerRequest, Caller) async -> Result<Value, FetchError>
    ) {
        let priority = ChangingPriority(request.priority)
        let relay = ProgressRelay()
        let outcome = TaskOutcome<Value>()
        caller = priority
        self.relay = relay
        self.outcome = outcome
        cancellation = FetchError(kind: .cancelled, url: request.url.absoluteString)
        task = Task {
            let result: Result<Value, FetchError>
            do throws(FetchError) {
                result = await fetch(try request.checked(), request.caller(priority, progress: relay.report))
            } catch {
                result = .failure(error)
            }
            relay.end()
            outcome.set(result)
        }
    }

    /// The order of this fetch among the fetches that wait for a place. It may be changed while the fetch waits.
    public var priority: FetchPriority {
        get { caller.value }
        set { caller.change(to: newValue) }
    }

    /// How much of the body has come. Each loop hears the latest state first, and may miss states in between. It ends with the fetch.
    ///
    /// An answer that is kept already brings no progress.
    public var progress: AsyncStream<FetchProgress> { relay.stream() }

    /// The outcome. A waiting task that is cancelled waits no longer, and gets ``FetchError/Kind/cancelled``. The fetch goes on, as the work of
    /// a Swift `Task` does: only ``cancel()`` ends it.
    public var value: Value {
        get async throws(FetchError) {
            guard let outcome = await outcome.value else { throw cancellation }
            return try outcome.get()
        }
    }

    /// Leaves the transfer, which goes on for its other callers. ``value`` throws ``FetchError/Kind/cancelled``.
    public func cancel() { task.cancel() }
}

extension ProgressRelay {
    /// Progress from now on, beginning with the latest.
    func stream() -> AsyncStream<FetchProgress> {
        let (stream, continuation) = AsyncStream.makeStream(of: FetchProgress.self, bufferingPolicy: .bufferingNewest(1))
        let number = listen { progress in
            if let progress { continuation.yield(progress) } else { continuation.finish() }
        }
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return stream
    }
}

/// The outcome of a fetch, for any number of waiters. Each may leave before it comes.
final class TaskOutcome<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, FetchError>

    private struct State {
        var outcome: Outcome?
        var waiters: [UInt64: CheckedContinuation<Outcome?, Never>] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Waits for the outcome. Nil when the waiting task is cancelled before it is there.
    var value: Outcome? {
        get async {
            let number = state.withLock { state in
                state.last += 1
                return state.last
            }
            return await withTaskCancellationHandler {
                await withCheckedContinuation { waiter in
                    let (outcome, waits) = state.withLock { state -> (Outcome?, Bool) in
                        if let outcome = state.outcome { return (outcome, false) }
                        // A cancellation that came before the waiter is in the table has found nobody there.
                        if Task.isCancelled { return (nil, false) }
                        state.waiters[number] = waiter
                        return (nil, true)
                    }
                    if !waits { waiter.resume(returning: outcome) }
                }
            } onCancel: {
                state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: nil)
            }
        }
    }

    func set(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}
