internal import GannetBasics

/// One call of a caller: a command or a pipeline, its deadline, and the task that waits for the outcome.
final class Request: Sendable {
    typealias Outcome = [Result<RedisReply, RedisError>]

    enum Payload: Sendable {
        case one(RedisCommand)
        case many([RedisCommand])
    }

    /// What the waiting task is told. A single command is by far the most frequent, and spared an array.
    enum Answer: Sendable {
        case one(Result<RedisReply, RedisError>)
        case many([Result<RedisReply, RedisError>])
    }

    private enum State {
        case idle
        case waiting(UnsafeContinuation<Answer, Never>, isSent: Bool)
        case cancelled
        case finished
    }

    let payload: Payload
    let weight: Int
    let deadline: ContinuousClock.Instant
    private let state = Mutex(State.idle)

    init(_ payload: Payload, deadline: ContinuousClock.Instant) {
        self.payload = payload
        self.deadline = deadline
        weight =
            switch payload {
            case .one(let command): command.payloadByteCount
            case .many(let commands): commands.reduce(0) { $0 + $1.payloadByteCount }
            }
    }

    /// Nobody waits any more: cancelled or timed out. Its reply, if one is to come, is dropped.
    var isFinished: Bool {
        state.withLock { state in
            if case .waiting = state { false } else { true }
        }
    }

    /// Takes the waiting task; false when it has been cancelled before it came to wait.
    func begin(_ continuation: UnsafeContinuation<Answer, Never>) -> Bool {
        state.withLock { state in
            if case .cancelled = state { return false }
            state = .waiting(continuation, isSent: false)
            return true
        }
    }

    /// Notes that it is about to be sent; false when nobody waits for it any more.
    func beginSending() -> Bool {
        state.withLock { state in
            guard case .waiting(let continuation, _) = state else { return false }
            state = .waiting(continuation, isSent: true)
            return true
        }
    }

    /// Tells the waiting task, if it still waits.
    func finish(_ answer: @autoclosure () -> Answer) {
        let waiting = state.withLock { state -> UnsafeContinuation<Answer, Never>? in
            guard case .waiting(let continuation, _) = state else { return nil }
            state = .finished
            return continuation
        }
        waiting?.resume(returning: answer())
    }

    /// Tells the waiting task that none of it came to an outcome.
    func fail(_ error: RedisError) {
        finish(failure(error))
    }

    /// Lets the waiting task go at once. What has been framed may be carried out all the same.
    func cancel(at address: RedisAddress) {
        let waiting = state.withLock { state -> (continuation: UnsafeContinuation<Answer, Never>, isSent: Bool)? in
            switch state {
            case .idle:
                state = .cancelled
                return nil
            case .waiting(let continuation, let isSent):
                state = .finished
                return (continuation, isSent)
            case .cancelled, .finished:
                return nil
            }
        }
        guard let waiting else { return }
        waiting.continuation.resume(returning: failure(RedisError(.cancelled, mayHaveExecuted: waiting.isSent).at(address)))
    }

    func failure(_ error: RedisError) -> Answer {
        switch payload {
        case .one: .one(.failure(error))
        case .many(let commands): .many(commands.map { _ in .failure(error) })
        }
    }
}
