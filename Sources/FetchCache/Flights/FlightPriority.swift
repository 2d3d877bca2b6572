internal import GannetBasics

/// The priority of a flight, which changes with who waits for it.
package final class FlightPriority: Sendable {
    private struct State {
        var value: FetchPriority
        var listener: (@Sendable (FetchPriority) -> Void)?
    }

    private let state: Mutex<State>

    package init(_ value: FetchPriority) { state = Mutex(State(value: value)) }

    package var value: FetchPriority { state.withLock { $0.value } }

    func change(to value: FetchPriority) {
        let listener = state.withLock { state in
            state.value = value
            return state.listener
        }
        listener?(value)
    }

    /// Tells of changes from now on, one listener at a time; returns the value they begin from.
    func listen(_ listener: (@Sendable (FetchPriority) -> Void)?) -> FetchPriority {
        state.withLock { state in
            state.listener = listener
            return state.value
        }
    }
}
