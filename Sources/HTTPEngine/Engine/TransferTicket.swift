internal import GannetBasics

/// One call of `download`: what it asks for, and the way back to its caller.
///
/// The caller's task waits, is cancelled from anywhere, and is answered from the engine's thread; this is where the three meet. The lock
/// only guards the state: the continuation is resumed after it is let go.
final class TransferTicket: Sendable {
    typealias Outcome = Result<Download, FetchError>

    /// What its caller hears.
    enum News: Sendable {
        case ended(Outcome)
        /// It has been led to another host, and waits to be let go there.
        case atGate(host: String)
    }

    let id: UInt64
    let request: DownloadRequest
    /// Its URL, which has been checked.
    let target: RequestTarget

    private enum State {
        case idle
        case cancelledBeforeStart
        case waiting(CheckedContinuation<News, Never>, isCancelled: Bool)
        case atGate(isCancelled: Bool)
        /// Ended while its caller was at the gate.
        case endedAtGate(Outcome)
        case finished
    }

    private let state = Mutex(State.idle)

    /// Whether its caller wants to be asked before it goes to another host.
    let asksAtHops: Bool

    init(id: UInt64, request: DownloadRequest, target: RequestTarget, asksAtHops: Bool) {
        self.id = id
        self.request = request
        self.target = target
        self.asksAtHops = asksAtHops
    }

    /// Takes the continuation, at first and after each gate. False, and it has been answered, when there is nothing to wait for: its task had been
    /// cancelled before, or it ended at the gate.
    func start(_ continuation: CheckedContinuation<News, Never>) -> Bool {
        let end: Outcome? = state.withLock { state in
            switch state {
            case .idle:
                state = .waiting(continuation, isCancelled: false)
                return nil
            case .atGate(let isCancelled):
                state = .waiting(continuation, isCancelled: isCancelled)
                return nil
            case .endedAtGate(let outcome):
                state = .finished
                return outcome
            case .cancelledBeforeStart, .waiting, .finished:
                state = .finished
                return .failure(cancellation)
            }
        }
        guard let end else { return true }
        continuation.resume(returning: .ended(end))
        return false
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
            case .atGate(isCancelled: false):
                state = .atGate(isCancelled: true)
                return true
            case .waiting, .atGate, .endedAtGate, .cancelledBeforeStart, .finished:
                return false
            }
        }
    }

    /// Asks the caller whether it may go on to another host; never under a lock nor inside a callback of libcurl.
    func ask(for host: String) {
        let continuation = state.withLock { state -> CheckedContinuation<News, Never>? in
            guard case .waiting(let continuation, let isCancelled) = state else { return nil }
            state = .atGate(isCancelled: isCancelled)
            return continuation
        }
        continuation?.resume(returning: .atGate(host: host))
    }

    /// Answers the caller; never under a lock nor inside a callback of libcurl.
    func finish(_ outcome: Outcome) {
        let continuation = state.withLock { state -> CheckedContinuation<News, Never>? in
            switch state {
            case .waiting(let continuation, _):
                state = .finished
                return continuation
            case .atGate:
                state = .endedAtGate(outcome)
                return nil
            case .idle, .cancelledBeforeStart, .endedAtGate, .finished: return nil
            }
        }
        continuation?.resume(returning: .ended(outcome))
    }

    var cancellation: FetchError { FetchError(kind: .cancelled, url: request.url) }
}
