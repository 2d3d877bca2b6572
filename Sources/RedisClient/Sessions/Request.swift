internal import Threads

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
        case waiting(UnsafeContinuation<Answer, Never>)
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
            state = .waiting(continuation)
            return true
        }
    }

    /// Tells the waiting task, if it still waits.
    func finish(_ answer: @autoclosure () -> Answer) {
        let waiting = state.withLock { state -> UnsafeContinuation<Answer, Never>? in
            guard case .waiting(let continuation) = state else { return nil }
            state = .finished
            return continuation
        }
        waiting?.resume(returning: answer())
    }

    /// Tells the waiting task that none of it came to an outcome.
    func fail(_ error: RedisError) {
        finish(failure(error))
    }

    func cancel() {
        let waiting = state.withLock { state -> UnsafeContinuation<Answer, Never>? in
            switch state {
            case .idle:
                state = .cancelled
                return nil
            case .waiting(let continuation):
                state = .finished
                return continuation
            case .cancelled, .finished:
                return nil
            }
        }
        waiting?.resume(returning: failure(RedisError(.cancelled)))
    }

    func failure(_ error: RedisError) -> Answer {
        switch payload {
        case .one: .one(.failure(error))
        case .many(let commands): .many(commands.map { _ in .failure(error) })
        }
    }
}
