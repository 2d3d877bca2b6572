internal import GannetBasics

/// One call of `download`: what it asks for, and the way back to its caller.
///
/// The caller's task waits, any thread may cancel it, and the engine's thread answers it: the three meet here. The lock guards only the
/// state. The continuation is resumed after the lock is released.
final class TransferTicket: Sendable {
    typealias Outcome = Result<Download, FetchError>

    /// A message to the caller.
    enum News: Sendable {
        case ended(Outcome)
        /// A redirect leads to another host, and the transfer waits for permission.
        case atGate(host: String)
    }

    let id: UInt64
    let request: DownloadRequest
    /// The request's URL, checked.
    let target: CanonicalURL

    private enum State {
        case idle
        case cancelledBeforeStart
        case waiting(CheckedContinuation<News, Never>, isCancelled: Bool)
        case atGate(isCancelled: Bool)
        /// The transfer ended while its caller was at the gate.
        case endedAtGate(Outcome)
        case finished
    }

    private let state = Mutex(State.idle)

    /// Whether the caller wants to be asked before a redirect to another host is followed.
    let asksAtHops: Bool

    init(id: UInt64, request: DownloadRequest, target: CanonicalURL, asksAtHops: Bool) {
        self.id = id
        self.request = request
        self.target = target
        self.asksAtHops = asksAtHops
    }

    /// Takes the continuation, at first and after each gate.
    ///
    /// False when there is nothing to wait for, because the task was cancelled before or the transfer ended at the gate. The continuation has
    /// been answered then.
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

    /// Notes the cancellation. True when the engine has the transfer and must be told: it answers when it has freed everything.
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

    /// Asks the caller whether the transfer may go on to another host. Never call it under a lock or in a callback of libcurl.
    func ask(for host: String) {
        let continuation = state.withLock { state -> CheckedContinuation<News, Never>? in
            guard case .waiting(let continuation, let isCancelled) = state else { return nil }
            state = .atGate(isCancelled: isCancelled)
            return continuation
        }
        continuation?.resume(returning: .atGate(host: host))
    }

    /// Answers the caller. Never call it under a lock or in a callback of libcurl.
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
