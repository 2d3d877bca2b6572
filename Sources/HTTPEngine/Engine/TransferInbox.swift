internal import GannetBasics

/// The way from any task to the engine's thread.
final class TransferInbox: Sendable {
    private struct Guarded {
        var state = InboxState()
        var nextID: UInt64 = 0
    }

    /// What the thread waits for, among others.
    let wakeup: Wakeup
    private let guarded = Mutex(Guarded())

    /// Nil, and `errno` says why, when the process has no descriptor left.
    init?() {
        guard let wakeup = Wakeup() else { return nil }
        self.wakeup = wakeup
    }

    func makeTicket(for request: DownloadRequest, to target: RequestTarget, asksAtHops: Bool) -> TransferTicket {
        let id = guarded.withLock { guarded in
            guarded.nextID += 1
            return guarded.nextID
        }
        return TransferTicket(id: id, request: request, target: target, asksAtHops: asksAtHops)
    }

    func start(_ ticket: TransferTicket) {
        if perform({ $0.start(ticket) }) == .refuse { ticket.finish(.failure(ticket.cancellation)) }
    }

    /// Lets a transfer go on to the host it asked for.
    func goOn(_ ticket: TransferTicket) {
        _ = perform { $0.goOn(ticket.id) }
    }

    func cancel(_ ticket: TransferTicket) {
        _ = perform { $0.cancel(ticket.id) }
    }

    func stop() {
        _ = perform { $0.stop() }
    }

    private func perform(_ change: (inout InboxState) -> InboxState.Action) -> InboxState.Action {
        let action = guarded.withLock { change(&$0.state) }
        if action == .wake { wakeup.signal() }
        return action
    }

    // MARK: For the engine's thread

    func take() -> InboxState.Batch {
        guarded.withLock { $0.state.take() }
    }

    func close() -> [TransferTicket] {
        guarded.withLock { $0.state.close() }
    }
}
