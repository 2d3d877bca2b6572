/// What callers have told the engine's thread and it has not yet read. Holds no lock and wakes nobody: it says what to do.
struct InboxState {
    /// What the thread finds when it looks.
    struct Batch {
        var starts: [TransferTicket] = []
        /// Those that may go on to another host.
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
        guard !isClosed, !batch.stops else { return .refuse }
        batch.starts.append(ticket)
        return wake()
    }

    /// An engine that has ended has answered the transfer, which then hears of that.
    mutating func goOn(_ id: UInt64) -> Action {
        guard !isClosed else { return .none }
        batch.admissions.append(id)
        return wake()
    }

    /// A cancellation that comes after the transfer's end finds nothing, which is right.
    mutating func cancel(_ id: UInt64) -> Action {
        guard !isClosed else { return .none }
        batch.cancellations.append(id)
        return wake()
    }

    mutating func stop() -> Action {
        guard !isClosed else { return .none }
        batch.stops = true
        return wake()
    }

    /// Hands over everything; the request to stop stays.
    mutating func take() -> Batch {
        isWoken = false
        defer {
            batch.starts = []
            batch.admissions = []
            batch.cancellations = []
        }
        return batch
    }

    /// Nothing is accepted any more. The last tickets must be answered by whoever closes.
    mutating func close() -> [TransferTicket] {
        isClosed = true
        return take().starts
    }

    private mutating func wake() -> Action {
        guard !isWoken else { return .none }
        isWoken = true
        return .wake
    }
}
