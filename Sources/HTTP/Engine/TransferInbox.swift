internal import GannetBase

/// The way from any task to the engine's thread: the callers' messages that the thread has not read yet.
final class TransferInbox: Sendable {
    /// The messages of all callers since the thread last looked.
    struct Batch {
        var starts: [TransferTicket] = []
        /// Transfers that may follow a redirect.
        var admissions: [UInt64] = []
        var cancellations: [UInt64] = []
        /// The engine ends, and answers all transfers. No further message is accepted.
        var stops = false
    }

    private struct State {
        var batch = Batch()
        /// Whether something was added since the thread last looked: one wake-up is enough for all of it.
        var isWoken = false
        var lastID: UInt64 = 0

        mutating func take() -> Batch {
            isWoken = false
            defer { batch = Batch(stops: batch.stops) }
            return batch
        }
    }

    /// The thread waits for it, beside its sockets.
    let wakeup: Wakeup
    /// How long sockets that are ready wait for the thread.
    let lag = Lag()
    private let state = Mutex(State())

    /// Nil when the process has no descriptor left; `errno` says why.
    init?() {
        guard let wakeup = Wakeup() else { return nil }
        self.wakeup = wakeup
    }

    func makeTicket(for request: DownloadRequest, to target: CanonicalURL, asksAtEachHop: Bool?) -> TransferTicket {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return TransferTicket(id: id, request: request, target: target, asksAtEachHop: asksAtEachHop)
    }

    func start(_ ticket: TransferTicket) {
        if !add({ $0.starts.append(ticket) }) { ticket.finish(.failure(ticket.cancellation)) }
    }

    /// Lets a transfer follow the redirect it asked for.
    func goOn(_ ticket: TransferTicket) { add { $0.admissions.append(ticket.id) } }

    /// A cancellation that comes after the transfer's end finds nothing, which is right.
    func cancel(_ ticket: TransferTicket) { add { $0.cancellations.append(ticket.id) } }

    func stop() { add { $0.stops = true } }

    /// False when the engine ends or has ended.
    @discardableResult private func add(_ change: (inout Batch) -> Void) -> Bool {
        let (isAccepted, wakes) = state.withLock { state in
            guard !state.batch.stops else { return (false, false) }
            change(&state.batch)
            defer { state.isWoken = true }
            return (true, !state.isWoken)
        }
        if wakes { wakeup.signal() }
        return isAccepted
    }

    // MARK: For the engine's thread

    /// Hands over everything; the request to stop stays.
    func take() -> Batch { state.withLock { $0.take() } }

    /// Accepts nothing from now on. The caller must answer the last tickets.
    func close() -> [TransferTicket] {
        state.withLock { state in
            state.batch.stops = true
            return state.take().starts
        }
    }
}
