internal import GannetBase

/// A lock that this process holds for a caller.
final class HeldLock: Sendable {
    private struct State {
        var whenLost: (@Sendable () -> Void)?
        var isLost = false
    }

    private let state = Mutex(State())

    func whenLost(_ action: @escaping @Sendable () -> Void) {
        let isLost = state.withLock { state in
            state.whenLost = action
            return state.isLost
        }
        if isLost { action() }
    }

    func lose() {
        let action = state.withLock { state in
            defer { state.isLost = true }
            return state.isLost ? nil : state.whenLost
        }
        action?()
    }
}
