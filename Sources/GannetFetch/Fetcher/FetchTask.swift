internal import FoundationEssentials
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
    private let relay: Relay<FetchProgress>
    private let outcome: Relay<Result<Value, FetchError>>
    private let task: Task<Void, Never>
    /// For waiters that are cancelled.
    private let cancellation: FetchError

    init(
        _ request: FetchRequest, _ fetch: @escaping @Sendable (AnswerRequest, Caller) async -> Result<Value, FetchError>
    ) {
        let priority = ChangingPriority(request.priority)
        let relay = Relay<FetchProgress>()
        let outcome = Relay<Result<Value, FetchError>>()
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
            outcome.report(result)
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
            // A loop in a task that is cancelled ends without the outcome.
            for await result in outcome.stream() { return try result.get() }
            throw cancellation
        }
    }

    /// Leaves the transfer, which goes on for its other callers. ``value`` throws ``FetchError/Kind/cancelled``.
    public func cancel() { task.cancel() }
}
