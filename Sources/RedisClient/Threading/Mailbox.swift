internal import GannetBasics

/// Messages from any thread to the one that owns a connection, and the wake-up that goes with them.
///
/// The owner says that it goes to sleep under the same lock under which messages are put in: a message either is seen before the
/// owner sleeps, or finds it asleep and wakes it. While the owner is busy nobody pays for a system call.
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

    /// - Parameter capacity: The sum of the weights of messages that are posted and not yet released.
    init(capacity: Int) throws(RedisError) {
        self.capacity = capacity
        guard let wakeup = Wakeup() else {
            throw RedisError(.unreachable, "no pipe: \(Descriptor.message(errno)); raise `ulimit -n`")
        }
        self.wakeup = wakeup
    }

    /// Leaves a message. A single one that is heavier than the whole capacity passes when nothing else is waiting.
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

    /// Closes the mailbox: later messages are refused, and the owner is told.
    func close() {
        let wakes = state.withLock { state in
            state.isClosed = true
            return Self.wakeOwner(&state)
        }
        if wakes { wakeup.signal() }
    }

    /// Moves all messages to `messages`, which the owner has emptied, and frees the capacity of what it is done with.
    /// Returns whether the mailbox is still open.
    func take(into messages: inout [Message], releasing weight: Int) -> Bool {
        state.withLock { state in
            swap(&state.messages, &messages)
            state.weight -= weight
            return !state.isClosed
        }
    }

    /// Whether the owner may wait on ``wakeup``: nothing has come since it last took, the end included.
    func mayOwnerSleep() -> Bool {
        state.withLock { state in
            guard state.messages.isEmpty, !state.isClosed else { return false }
            state.ownerSleeps = true
            return true
        }
    }

    /// The owner is up again, for whatever reason.
    func ownerWoke() {
        state.withLock { $0.ownerSleeps = false }
    }

    private static func wakeOwner(_ state: inout State) -> Bool {
        defer { state.ownerSleeps = false }
        return state.ownerSleeps
    }
}
