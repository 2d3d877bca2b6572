import GannetBase

/// Lets SIGINT and SIGTERM end a command's waiting, and stop its worker.
final class Interruption: Sendable {
    private struct State {
        var first: ExitStatus?
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let requests: AsyncStream<ExitStatus>

    /// One element for each signal and each ``stop()``, as a worker takes them.
    let stops: AsyncStream<Void>
    private let stopper: AsyncStream<Void>.Continuation

    init() throws {
        requests = try Surroundings.current.requests()
        (stops, stopper) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(8))
    }

    /// Stops the worker without a signal.
    func stop() { stopper.yield() }

    /// The first signal that came, as the exit status that it means.
    var request: ExitStatus? { state.withLock { $0.first } }

    /// The work that the signals were to end has ended by itself. They count for nothing that follows.
    func forget() { state.withLock { $0.first = nil } }

    /// The exit status of a command that a signal ended.
    var status: ExitStatus { request ?? .interrupted }

    /// Runs a command's `body`, with signals noted meanwhile.
    func watching<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let watch = Task {
            for await request in requests {
                let cancel = state.withLock { state in
                    state.first = state.first ?? request
                    return state.cancel
                }
                stopper.yield()
                cancel?()
            }
        }
        defer { watch.cancel() }
        return try await body()
    }

    /// Runs `body` in a task that the first signal cancels.
    func cancelling<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async -> Result<Value, any Error> {
        let task = Task { try await body() }
        let hasCome = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.first != nil
        }
        if hasCome { task.cancel() }
        let result = await task.result
        state.withLock { $0.cancel = nil }
        return result
    }

    /// How long cleaning up may take once a signal has come.
    static let cleanUpBound = Duration.seconds(2)

    /// Runs the last steps before an end, in a bounded time. The next signal cuts them short.
    @discardableResult
    func cleaningUp<Value: Sendable>(
        within bound: Duration = cleanUpBound, _ body: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        let task = Task { try await body() }
        state.withLock { $0.cancel = { task.cancel() } }
        let alarm = Task {
            do { try await Task.sleep(for: bound) } catch { return }
            task.cancel()
        }
        let result = await task.result
        alarm.cancel()
        state.withLock { $0.cancel = nil }
        return result
    }
}

/// The result of work that a signal may have ended.
extension Result where Failure == any Error {
    /// The value, also when a signal came too late to prevent it; `nil` when it came in time.
    func get(unlessEndedBy interruption: Interruption) throws -> Success? {
        if case .success(let value) = self { return value }
        return try get(unlessInterrupted: interruption)
    }

    /// The value, or `nil` when there was a signal, which is then the reason for any error.
    func get(unlessInterrupted interruption: Interruption) throws -> Success? {
        try interruption.request == nil ? get() : nil
    }
}
