internal import GannetBase

/// The body of an answer between the task that writes it and the connection that sends it. It holds a bounded number of bytes.
package final class AnswerStream: Sendable {
    /// A piece of the body for libmicrohttpd.
    enum Piece: Equatable {
        case bytes(Int)
        /// Nothing is there yet. `wake` says when.
        case none
        case end
        case failure
    }

    private struct State {
        var pieces = Fifo<[UInt8]>()
        /// Bytes of the first piece that were taken.
        var taken = 0
        var held = 0
        var end: Piece?
        var writer: CheckedContinuation<Void, Never>?
        var pause: Task<Void, Never>?
        var isServerEnding = false
    }

    private static let mostHeld = 256 << 10

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: Called from any thread when there is something to take.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Adds to the body. Returns when the connection has room for more. One task at a time may write.
    package func write(_ bytes: [UInt8]) async throws(ClientLeft) {
        guard !bytes.isEmpty else { return }
        let isOver = state.withLock { state in
            guard state.end == nil else { return true }
            state.pieces.append(bytes)
            state.held += bytes.count
            return false
        }
        if isOver { throw ClientLeft() }
        wake()
        await withTaskCancellationHandler {
            await withCheckedContinuation { writer in
                let hasRoom = state.withLock { state in
                    if state.held <= Self.mostHeld || state.end != nil { return true }
                    state.writer = writer
                    return false
                }
                if hasRoom { writer.resume() }
            }
        } onCancel: {
            finish(.failure)
        }
        // The answer may be over because these bytes were its last. Their writer is cancelled then, and has written all the same.
        if state.withLock({ $0.end != nil && !$0.pieces.isEmpty }) { throw ClientLeft() }
    }

    /// Returns after this time, or when the server is about to end: false then. Throws when the writer's task is cancelled.
    func pause(for time: Duration) async throws -> Bool {
        let pause = Task { _ = try? await Task.sleep(for: time) }
        let isEnding = state.withLock { state in
            state.pause = pause
            return state.isServerEnding
        }
        if isEnding { pause.cancel() }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        try Task.checkCancellation()
        return !state.withLock { $0.isServerEnding }
    }

    /// The server is about to end.
    func prepareToEnd() {
        let pause = state.withLock { state in
            state.isServerEnding = true
            return state.pause
        }
        pause?.cancel()
    }

    func finish(_ end: Piece) {
        let writer = state.withLock { state in
            state.end = state.end ?? end
            defer { state.writer = nil }
            return state.writer
        }
        writer?.resume()
        wake()
    }

    /// Moves bytes to the connection.
    func take(into room: UnsafeMutableRawBufferPointer) -> Piece {
        let (piece, writer) = state.withLock { state -> (Piece, CheckedContinuation<Void, Never>?) in
            if state.end == .failure { return (.failure, nil) }
            var count = 0
            while count < room.count, let first = state.pieces.first {
                let part = first[state.taken...].prefix(room.count - count)
                UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyBytes(from: part)
                count += part.count
                state.taken += part.count
                if state.taken == first.count {
                    _ = state.pieces.popFirst()
                    state.taken = 0
                }
            }
            guard count > 0 else { return (state.end ?? .none, nil) }
            state.held -= count
            guard state.held <= Self.mostHeld / 2 else { return (.bytes(count), nil) }
            defer { state.writer = nil }
            return (.bytes(count), state.writer)
        }
        writer?.resume()
        return piece
    }
}
