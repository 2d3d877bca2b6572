internal import GannetBase

/// A command or a pipeline, its deadline, and the task that waits for the answer.
final class Request: Sendable {
    typealias Outcome = [Result<RedisReply, RedisError>]

    enum Payload: Sendable {
        case one(RedisCommand)
        case many([RedisCommand])
    }

    /// The answer for the waiting task. Most requests are single commands, which need no array.
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

    /// The task no longer waits, after a cancellation or a timeout. A late reply is dropped.
    var isFinished: Bool {
        state.withLock { state in
            if case .waiting = state { false } else { true }
        }
    }

    /// Takes the waiting task; false if the request was cancelled before.
    func begin(_ continuation: UnsafeContinuation<Answer, Never>) -> Bool {
        state.withLock { state in
            if case .cancelled = state { return false }
            state = .waiting(continuation, isSent: false)
            return true
        }
    }

    /// Marks the request as sent; false if the task no longer waits.
    func beginSending() -> Bool {
        state.withLock { state in
            guard case .waiting(let continuation, _) = state else { return false }
            state = .waiting(continuation, isSent: true)
            return true
        }
    }

    /// Resumes the task, if it still waits.
    func finish(_ answer: @autoclosure () -> Answer) {
        let waiting = state.withLock { state -> UnsafeContinuation<Answer, Never>? in
            guard case .waiting(let continuation, _) = state else { return nil }
            state = .finished
            return continuation
        }
        waiting?.resume(returning: answer())
    }

    /// Fails all commands of the request.
    func fail(_ error: RedisError) {
        finish(failure(error))
    }

    /// Resumes the task at once. The server may still execute a command that was sent.
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
