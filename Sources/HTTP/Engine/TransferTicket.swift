internal import GannetBase

/// One call of `download`: what it asks for, and the way back to its caller.
///
/// The caller's task waits, any thread may cancel it, and the engine's thread answers it: the three meet here. The lock guards only the
/// state. The continuation is resumed after the lock is released.
final class TransferTicket: Sendable {
    typealias Outcome = Result<Download, FetchError>

    /// A message to the caller.
    enum News: Sendable {
        /// The outcome is there to be taken.
        case ended
        /// The transfer waits for permission to follow a redirect. It is rare, and large.
        indirect case atGate(NextHop)
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
        /// The outcome was not taken yet. It may be there before its caller waits, who is at the gate then.
        case ended(DownloadEnd)
        case finished
    }

    private let state = Mutex(State.idle)

    /// The redirects about which the caller wants to be asked.
    let askedHops: AskedHops

    init(id: UInt64, request: DownloadRequest, target: CanonicalURL, asking askedHops: AskedHops) {
        self.id = id
        self.request = request
        self.target = target
        self.askedHops = askedHops
    }

    /// Takes the continuation, at first and after each gate.
    ///
    /// False when there is nothing to wait for, because the task was cancelled before or the transfer ended at the gate. The continuation has
    /// been answered then.
    func start(_ continuation: CheckedContinuation<News, Never>) -> Bool {
        let waits = state.withLock { state -> Bool in
            switch state {
            case .idle: state = .waiting(continuation, isCancelled: false)
            case .atGate(let isCancelled): state = .waiting(continuation, isCancelled: isCancelled)
            case .ended: return false
            case .cancelledBeforeStart, .waiting, .finished:
                state = .ended(DownloadEnd(.failure(cancellation)))
                return false
            }
            return true
        }
        if !waits { continuation.resume(returning: .ended) }
        return waits
    }

    /// The outcome, for the caller who has heard of the end.
    func takeEnd() -> DownloadEnd {
        state.withLock { state in
            guard case .ended(let end) = state else { preconditionFailure("An outcome is taken once, after the end.") }
            state = .finished
            return end
        }
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
            case .waiting, .atGate, .ended, .cancelledBeforeStart, .finished:
                return false
            }
        }
    }

    /// Asks the caller whether the transfer may follow a redirect. Never call it under a lock or in a callback of libcurl.
    func ask(about hop: NextHop) {
        let continuation = state.withLock { state -> CheckedContinuation<News, Never>? in
            guard case .waiting(let continuation, let isCancelled) = state else { return nil }
            state = .atGate(isCancelled: isCancelled)
            return continuation
        }
        continuation?.resume(returning: .atGate(hop))
    }

    /// Answers the caller. Never call it under a lock or in a callback of libcurl.
    func finish(_ outcome: Outcome) {
        let end = DownloadEnd(outcome)
        let continuation = state.withLock { state -> CheckedContinuation<News, Never>? in
            switch state {
            case .waiting(let continuation, _):
                state = .ended(end)
                return continuation
            case .atGate:
                state = .ended(end)
                return nil
            case .idle, .cancelledBeforeStart, .ended, .finished: return nil
            }
        }
        continuation?.resume(returning: .ended)
    }

    var cancellation: FetchError { FetchError(kind: .cancelled, url: request.url) }
}

/// The redirects about which a caller is asked.
enum AskedHops: Sendable {
    case none, toOtherHosts, all

    func include(_ hop: NextHop) -> Bool {
        switch self {
        case .none: false
        case .toOtherHosts: hop.isElsewhere
        case .all: true
        }
    }
}
