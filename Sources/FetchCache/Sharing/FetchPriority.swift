internal import GannetBasics

/// How important a fetch is among those that wait for their turn.
public enum FetchPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Fetched only when no other fetch waits, such as a prefetch.
    case background
    case low, normal, high

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    var taskPriority: TaskPriority {
        switch self {
        case .background: .background
        case .low: .low
        case .normal: .medium
        case .high: .high
        }
    }
}

/// The priority of a shared fetch. It changes with the callers that wait for the fetch.
package final class SharedFetchPriority: Sendable {
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

    /// Calls the listener at each change from now on, instead of the listener before. Returns the present value.
    func listen(_ listener: (@Sendable (FetchPriority) -> Void)?) -> FetchPriority {
        state.withLock { state in
            state.listener = listener
            return state.value
        }
    }
}
