internal import GannetBase

/// Events from any task for one reader, who gets all that have gathered at once.
final class EventBox<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        var reader: CheckedContinuation<[Event], Never>?
    }

    private let state = Mutex(State())
    /// How long events wait for the reader.
    let lag = Lag()

    func put(_ event: Event) {
        let reader = state.withLock { state -> CheckedContinuation<[Event], Never>? in
            guard let reader = state.reader else {
                if state.events.isEmpty { lag.begin() }
                state.events.append(event)
                return nil
            }
            state.reader = nil
            return reader
        }
        guard let reader else { return }
        lag.begin()
        reader.resume(returning: [event])
    }

    /// Waits for at least one event. One task at a time may wait.
    func next() async -> [Event] {
        let events = await gathered()
        lag.end()
        return events
    }

    private func gathered() async -> [Event] {
        await withCheckedContinuation { reader in
            let events = state.withLock { state -> [Event]? in
                guard !state.events.isEmpty else {
                    state.reader = reader
                    return nil
                }
                defer { state.events = [] }
                return state.events
            }
            if let events { reader.resume(returning: events) }
        }
    }
}
