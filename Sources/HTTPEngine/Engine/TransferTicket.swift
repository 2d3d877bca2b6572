internal import Threads

/// One call of `download`: what it asks for, and the way back to its caller.
///
/// The caller's task waits, is cancelled from anywhere, and is answered from the engine's thread; this is where the three meet. The lock
/// only guards the state: the continuation is resumed after it is let go.
final class TransferTicket: Sendable {
    typealias Outcome = Result<Download, FetchError>

    let id: UInt64
    let request: DownloadRequest
    /// Its URL, which has been checked.
    let target: RequestTarget

    private enum State {
        case idle
        case cancelledBeforeStart
        case waiting(CheckedContinuation<Outcome, Never>, isCancelled: Bool)
        case finished
    }

    private let state = Mutex(State.idle)

    init(id: UInt64, request: DownloadRequest, target: RequestTarget) {
        self.id = id
        self.request = request
        self.target = target
    }

    /// Takes the continuation. False, and it has been answered, when the task had been cancelled before.
    func start(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let starts = state.withLock { state in
            guard case .idle = state else {
                state = .finished
                return false
            }
            state = .waiting(continuation, isCancelled: false)
            return true
        }
        if !starts { continuation.resume(returning: .failure(cancellation)) }
        return starts
    }

    /// Notes the cancellation. True when the engine has the transfer and must be told; it answers once nothing of it is left.
    func cancel() -> Bool {
        state.withLock { state in
            switch state {
            case .idle:
                state = .cancelledBeforeStart
                return false
            case .waiting(let continuation, isCancelled: false):
                state = .waiting(continuation, isCancelled: true)
                return true
            case .waiting, .cancelledBeforeStart, .finished:
                return false
            }
        }
    }

    /// Answers the caller; never under a lock nor inside a callback of libcurl.
    func finish(_ outcome: Outcome) {
        let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard case .waiting(let continuation, _) = state else { return nil }
            state = .finished
            return continuation
        }
        continuation?.resume(returning: outcome)
    }

    var cancellation: FetchError { FetchError(kind: .cancelled, url: request.url) }
}
