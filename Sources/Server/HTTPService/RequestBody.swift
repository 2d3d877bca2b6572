internal import GannetBase

/// The body of a request, which one task reads piece by piece. Nothing more is read from the client until the last piece was taken.
package final class RequestBody: Sendable {
    private typealias Next = Result<[UInt8]?, ClientLeft>

    private struct State {
        var piece: [UInt8]?
        var end: Result<Void, ClientLeft>?
        var reader: CheckedContinuation<Next, Never>?
        /// Has libmicrohttpd offer the next piece.
        var wake: @Sendable () -> Void = {}
    }

    private let state: Mutex<State>

    /// - Parameter isOpen: Whether pieces come. Without them the body is empty.
    package init(isOpen: Bool = false) { state = Mutex(State(end: isOpen ? nil : .success(()))) }

    /// To be called before the body has a reader.
    func whenRead(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    /// The next piece; nil at the end. One task at a time may wait for it.
    package func next() async throws(ClientLeft) -> [UInt8]? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let now = state.withLock { state -> Next? in
                    if let piece = state.piece {
                        state.piece = nil
                        return .success(piece)
                    }
                    if let end = state.end { return end.map { nil } }
                    state.reader = reader
                    return nil
                }
                if let now { reader.resume(returning: now) }
            }
        } onCancel: {
            end(.failure(ClientLeft()))
        }
        state.withLock { $0.wake }()
        return try result.get()
    }

    /// Takes a piece, if the reader has taken the one before. False: it has to be offered again after `wake`.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (reader, isTaken) = state.withLock { state -> (CheckedContinuation<Next, Never>?, Bool) in
            guard state.end == nil else { return (nil, true) }
            guard state.piece == nil else { return (nil, false) }
            if let reader = state.reader {
                state.reader = nil
                return (reader, true)
            }
            state.piece = Array(bytes)
            return (nil, true)
        }
        reader?.resume(returning: .success(Array(bytes)))
        return isTaken
    }

    /// No piece comes any more.
    func end(_ result: Result<Void, ClientLeft>) {
        let reader = state.withLock { state in
            state.end = state.end ?? result
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: result.map { nil })
    }
}

/// The client has left before the end of its body, or of the answer's.
package struct ClientLeft: Error, Equatable {}
