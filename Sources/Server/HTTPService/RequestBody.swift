internal import GannetBase

/// The body of a request, which one task reads piece by piece. Nothing more is read from the client until the last piece was taken.
package final class RequestBody: Sendable {
    package enum Failure: Error, Sendable {
        /// The client has left before the body's end.
        case clientLeft
    }

    private struct State {
        var piece: [UInt8]?
        var end: Result<Void, Failure>?
        var reader: CheckedContinuation<Result<[UInt8]?, Failure>, Never>?
    }

    private let state: Mutex<State>
    /// Has libmicrohttpd offer the next piece.
    private let wake: @Sendable () -> Void

    /// A body without bytes.
    package init() {
        state = Mutex(State(end: .success(())))
        wake = {}
    }

    init(wake: @escaping @Sendable () -> Void) {
        state = Mutex(State())
        self.wake = wake
    }

    /// The next piece; nil at the end. One task at a time may wait for it.
    package func next() async throws(Failure) -> [UInt8]? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let now = state.withLock { state -> Result<[UInt8]?, Failure>? in
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
            end(.failure(.clientLeft))
        }
        wake()
        return try result.get()
    }

    /// Takes a piece, if the reader has taken the one before. False: it has to be offered again after `wake`.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (reader, isTaken) = state.withLock { state -> (CheckedContinuation<Result<[UInt8]?, Failure>, Never>?, Bool) in
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
    func end(_ result: Result<Void, Failure>) {
        let reader = state.withLock { state in
            state.end = state.end ?? result
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: result.map { nil })
    }
}
