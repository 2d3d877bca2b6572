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

    private struct State {
        /// The caller's task, while it waits.
        var caller: CheckedContinuation<News, Never>?
        var hasStarted = false
        var isCancelled = false
        /// It may be there before its caller waits, who is at the gate then.
        var end: DownloadEnd?
    }

    private let state = Mutex(State())

    /// Whether the caller wants to be asked about each redirect, and not only about one to another host. Nil for about none.
    private let asksAtEachHop: Bool?

    init(id: UInt64, request: DownloadRequest, target: CanonicalURL, asksAtEachHop: Bool? = nil) {
        self.id = id
        self.request = request
        self.target = target
        self.asksAtEachHop = asksAtEachHop
    }

    func asks(about hop: NextHop) -> Bool { asksAtEachHop.map { $0 || hop.isElsewhere } ?? false }

    /// Takes the continuation, at first and after each gate.
    ///
    /// False when there is nothing to wait for, because the task was cancelled before or the transfer ended at the gate. The continuation has
    /// been answered then.
    func start(_ caller: CheckedContinuation<News, Never>) -> Bool {
        let waits = state.withLock { state in
            if state.isCancelled, !state.hasStarted { state.end = DownloadEnd(.failure(cancellation)) }
            guard state.end == nil else { return false }
            (state.caller, state.hasStarted) = (caller, true)
            return true
        }
        if !waits { caller.resume(returning: .ended) }
        return waits
    }

    /// The outcome, for the caller who has heard of the end.
    func takeEnd() -> DownloadEnd {
        guard let end = state.withLock({ $0.end }) else { preconditionFailure("An outcome is taken after the end.") }
        return end
    }

    /// Notes the cancellation. True when the engine has the transfer and must be told: it answers when it has freed everything.
    func cancel() -> Bool {
        state.withLock { state in
            guard !state.isCancelled, state.end == nil else { return false }
            state.isCancelled = true
            return state.hasStarted
        }
    }

    /// Asks the caller whether the transfer may follow a redirect. Never call it under a lock or in a callback of libcurl.
    func ask(about hop: NextHop) { state.withLock { $0.caller.take() }?.resume(returning: .atGate(hop)) }

    /// Answers the caller. Never call it under a lock or in a callback of libcurl.
    func finish(_ outcome: Outcome) {
        let end = DownloadEnd(outcome)
        let caller = state.withLock { state -> CheckedContinuation<News, Never>? in
            guard state.hasStarted, state.end == nil else { return nil }
            state.end = end
            return state.caller.take()
        }
        caller?.resume(returning: .ended)
    }

    var cancellation: FetchError { FetchError(kind: .cancelled, url: request.url) }
}
