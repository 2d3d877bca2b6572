import GannetBase

/// Lets SIGINT and SIGTERM end a command's waiting, and stop its worker.
final class Interruption: Sendable {
    private struct State {
        var first: SignalTrap.Request?
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let requests: AsyncStream<SignalTrap.Request>

    /// One element for each signal.
    let stops: AsyncStream<Void>
    private let stopper: AsyncStream<Void>.Continuation

    init() throws {
        requests = try Surroundings.current.requests()
        (stops, stopper) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(8))
    }

    /// The first signal that came.
    var request: SignalTrap.Request? { state.withLock { $0.first } }

    /// The work that the signals were to end has ended by itself. They count for nothing that follows.
    func forget() { state.withLock { $0.first = nil } }

    /// The exit status of a command that a signal ended.
    var status: ExitStatus { request?.status ?? .interrupted }

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
    func cancelling<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async -> Interruptible<Value> {
        let task = Task { try await body() }
        let hasCome = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.first != nil
        }
        if hasCome { task.cancel() }
        let result = await task.result
        state.withLock { $0.cancel = nil }
        return Interruptible(result: result)
    }
}

extension Interruption {
    /// How long cleaning up may take once a signal has come.
    static let cleanUpBound = Duration.seconds(2)

    /// Runs the last steps before an end, in a bounded time. The next signal cuts them short.
    func cleaningUp(within bound: Duration = cleanUpBound, _ body: @escaping @Sendable () async throws -> Void) async {
        let task = Task { try await body() }
        state.withLock { $0.cancel = { task.cancel() } }
        let alarm = Task {
            do { try await Task.sleep(for: bound) } catch { return }
            task.cancel()
        }
        _ = await task.result
        alarm.cancel()
        state.withLock { $0.cancel = nil }
    }
}

/// The result of work that a signal may have ended.
struct Interruptible<Value: Sendable>: Sendable {
    fileprivate let result: Result<Value, any Error>

    /// The value, also when a signal came too late to prevent it.
    var value: Value? { try? result.get() }

    /// The value, also when a signal came too late to prevent it; `nil` when it came in time.
    func get(unlessEndedBy interruption: Interruption) throws -> Value? {
        if let value { return value }
        return try get(unlessInterrupted: interruption)
    }

    /// The value, or `nil` when there was a signal, which is then the reason for any error.
    func get(unlessInterrupted interruption: Interruption) throws -> Value? {
        if interruption.request != nil { return nil }
        return try result.get()
    }
}
