internal import GannetBase

/// Messages from any thread to a connection's thread, and its wake-up.
///
/// The connection's thread goes to sleep under the lock under which messages are added. So a message is seen before the thread sleeps, or it wakes
/// the thread. While the thread is awake, a message costs no system call.
final class Mailbox<Message: Sendable>: Sendable {
    enum PostOutcome {
        case accepted
        case full
        case closed
    }

    private struct State {
        var messages: [Message] = []
        var weight = 0
        var ownerSleeps = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let capacity: Int
    let wakeup: Wakeup

    /// - Parameter capacity: The most weight of messages that are not yet released.
    init(capacity: Int) throws(RedisError) {
        self.capacity = capacity
        guard let wakeup = Wakeup() else {
            throw RedisError(.unreachable, "no pipe: \(Descriptor.message(errno)); raise `ulimit -n`")
        }
        self.wakeup = wakeup
    }

    /// Adds a message. A message that is heavier than the capacity is accepted if no other is waiting.
    func post(_ message: Message, weight: Int) -> PostOutcome {
        let (outcome, wakes) = state.withLock { state -> (PostOutcome, Bool) in
            if state.isClosed { return (.closed, false) }
            if state.weight > 0, state.weight + weight > capacity { return (.full, false) }
            state.messages.append(message)
            state.weight += weight
            return (.accepted, Self.wakeOwner(&state))
        }
        if wakes { wakeup.signal() }
        return outcome
    }

    /// Refuses later messages, and wakes the owner.
    func close() {
        let wakes = state.withLock { state in
            state.isClosed = true
            return Self.wakeOwner(&state)
        }
        if wakes { wakeup.signal() }
    }

    /// Swaps all messages with the empty `messages`, and releases the weight of handled ones. Returns false if the mailbox is closed.
    func take(into messages: inout [Message], releasing weight: Int) -> Bool {
        state.withLock { state in
            swap(&state.messages, &messages)
            state.weight -= weight
            return !state.isClosed
        }
    }

    /// Whether the owner may wait on ``wakeup``: there is no message, and the mailbox is open.
    func mayOwnerSleep() -> Bool {
        state.withLock { state in
            guard state.messages.isEmpty, !state.isClosed else { return false }
            state.ownerSleeps = true
            return true
        }
    }

    func ownerWoke() {
        state.withLock { $0.ownerSleeps = false }
    }

    private static func wakeOwner(_ state: inout State) -> Bool {
        defer { state.ownerSleeps = false }
        return state.ownerSleeps
    }
}
