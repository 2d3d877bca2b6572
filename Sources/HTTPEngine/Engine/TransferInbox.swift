import CCurl
internal import Threads

/// The way from any task to the engine's thread.
final class TransferInbox: Sendable {
    private struct Guarded {
        var state = InboxState()
        /// The address of the thread's multi handle, which others only ever wake. It lives while it stands here, so the lock is held
        /// meanwhile; that is one write to a socket and calls nobody back.
        var multi: UInt?
        var nextID: UInt64 = 0
    }

    private let guarded = Mutex(Guarded())

    func makeTicket(for request: DownloadRequest) -> TransferTicket {
        let id = guarded.withLock { guarded in
            guarded.nextID += 1
            return guarded.nextID
        }
        return TransferTicket(id: id, request: request)
    }

    func start(_ ticket: TransferTicket) {
        if perform({ $0.start(ticket) }) == .refuse { ticket.finish(.failure(ticket.cancellation)) }
    }

    func cancel(_ ticket: TransferTicket) {
        _ = perform { $0.cancel(ticket.id) }
    }

    func stop() {
        _ = perform { $0.stop() }
    }

    private func perform(_ change: (inout InboxState) -> InboxState.Action) -> InboxState.Action {
        guarded.withLock { guarded in
            let action = change(&guarded.state)
            // Before the thread has come up there is nobody to wake: it looks here first.
            if action == .wake, let multi = guarded.multi.flatMap(UnsafeMutableRawPointer.init(bitPattern:)) { curl_multi_wakeup(multi) }
            return action
        }
    }

    // MARK: For the engine's thread

    func open(waking multi: UInt) {
        guarded.withLock { $0.multi = multi }
    }

    func take() -> InboxState.Batch {
        guarded.withLock { $0.state.take() }
    }

    /// After this no other thread touches the multi handle.
    func close() -> [TransferTicket] {
        guarded.withLock { guarded in
            guarded.multi = nil
            return guarded.state.close()
        }
    }
}
