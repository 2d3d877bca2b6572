internal import GannetBase

/// The way from any task to the engine's thread.
final class TransferInbox: Sendable {
    /// The thread waits for it, beside its sockets.
    let wakeup: Wakeup
    /// How long sockets that are ready wait for the thread.
    let lag = Lag()
    private let guarded = Mutex((state: InboxState(), lastID: UInt64(0)))

    /// Nil when the process has no descriptor left; `errno` says why.
    init?() {
        guard let wakeup = Wakeup() else { return nil }
        self.wakeup = wakeup
    }

    func makeTicket(for request: DownloadRequest, to target: CanonicalURL, asking hops: AskedHops) -> TransferTicket {
        let id = guarded.withLock { guarded in
            guarded.lastID += 1
            return guarded.lastID
        }
        return TransferTicket(id: id, request: request, target: target, asking: hops)
    }

    func start(_ ticket: TransferTicket) {
        if perform({ $0.start(ticket) }) == .refuse { ticket.finish(.failure(ticket.cancellation)) }
    }

    /// Lets a transfer follow the redirect it asked for.
    func goOn(_ ticket: TransferTicket) { perform { $0.goOn(ticket.id) } }

    func cancel(_ ticket: TransferTicket) { perform { $0.cancel(ticket.id) } }

    func stop() { perform { $0.stop() } }

    @discardableResult private func perform(_ change: (inout InboxState) -> InboxState.Action) -> InboxState.Action {
        let action = guarded.withLock { change(&$0.state) }
        if action == .wake { wakeup.signal() }
        return action
    }

    // MARK: For the engine's thread

    func take() -> InboxState.Batch { guarded.withLock { $0.state.take() } }

    func close() -> [TransferTicket] { guarded.withLock { $0.state.close() } }
}

/// The callers' messages that the engine's thread has not read yet. Holds no lock and wakes nobody: it says what to do.
struct InboxState {
    /// The messages of all callers since the thread last looked.
    struct Batch {
        var starts: [TransferTicket] = []
        /// Transfers that may follow a redirect.
        var admissions: [UInt64] = []
        var cancellations: [UInt64] = []
        var stops = false
    }

    enum Action: Equatable {
        /// The thread has been woken already, or is awake.
        case none
        case wake
        /// The engine has ended: the caller must answer the ticket itself.
        case refuse
    }

    private var batch = Batch()
    private var isClosed = false
    /// Whether something was added since the thread last looked: one wake-up is enough for all of it.
    private var isWoken = false

    mutating func start(_ ticket: TransferTicket) -> Action {
        isClosed || batch.stops ? .refuse : add { $0.starts.append(ticket) }
    }

    mutating func goOn(_ id: UInt64) -> Action { add { $0.admissions.append(id) } }

    /// A cancellation that comes after the transfer's end finds nothing, which is right.
    mutating func cancel(_ id: UInt64) -> Action { add { $0.cancellations.append(id) } }

    mutating func stop() -> Action { add { $0.stops = true } }

    /// Hands over everything; the request to stop stays.
    mutating func take() -> Batch {
        isWoken = false
        defer { batch = Batch(stops: batch.stops) }
        return batch
    }

    /// Accepts nothing from now on. The caller must answer the last tickets.
    mutating func close() -> [TransferTicket] {
        isClosed = true
        return take().starts
    }

    private mutating func add(_ change: (inout Batch) -> Void) -> Action {
        // An engine that has ended has answered all transfers.
        guard !isClosed else { return .none }
        change(&batch)
        defer { isWoken = true }
        return isWoken ? .none : .wake
    }
}
