internal import GannetBase

/// A value that arrives once, for any number of waiting tasks.
final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case pending([UnsafeContinuation<Value, Never>])
        case fired(Value)
    }

    private let state = Mutex(State.pending([]))

    /// Delivers the value. Later calls are ignored.
    func fire(_ value: Value) {
        let waiting = state.withLock { state -> [UnsafeContinuation<Value, Never>] in
            guard case .pending(let waiting) = state else { return [] }
            state = .fired(value)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    var value: Value {
        get async {
            await withUnsafeContinuation { continuation in
                let present = state.withLock { state -> Value? in
                    switch state {
                    case .pending(let waiting):
                        state = .pending(waiting + [continuation])
                        return nil
                    case .fired(let value):
                        return value
                    }
                }
                if let present { continuation.resume(returning: present) }
            }
        }
    }
}
