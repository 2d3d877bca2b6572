internal import ClusterState
internal import GannetBasics
internal import RedisClient

/// Callers that wait until a URL is free. Messages to this process' inbox wake them.
///
/// A caller takes a number before it asks for the URL. So it does not miss a message that is published between the answer "busy" and its wait.
final class FreedURLs: Sendable {
    private struct State {
        var waiters: [URLID: [UInt64: CheckedContinuation<Void, Never>?]] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Registers a caller that is about to ask.
    func expect(_ id: URLID) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.waiters[id, default: [:]][state.last] = .some(nil)
            return state.last
        }
    }

    /// Removes a caller that does not have to wait.
    func forget(_ number: UInt64, _ id: URLID) { wake(number, id) }

    /// Returns when the URL is free, the time is over, or the task is cancelled.
    func wait(_ number: UInt64, _ id: URLID, atMost: Duration) async {
        let timer = Task {
            try? await Task.sleep(for: atMost)
            wake(number, id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // The URL was freed after the caller asked.
                    guard state.waiters[id]?[number] != nil else { return true }
                    state.waiters[id]?[number] = .some(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            wake(number, id)
        }
        timer.cancel()
    }

    /// Handles the inbox's messages until it is closed.
    func listen(to inbox: RedisSubscription) async {
        for await event in inbox {
            switch event {
            case .message(_, let payload):
                guard payload.first == UInt8(ascii: "u"), let id = URLID(Array(payload.dropFirst())) else { continue }
                wake(id)
            case .interrupted: wakeAll()
            }
        }
    }

    private func wake(_ number: UInt64, _ id: URLID) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let waiter = state.waiters[id]?.removeValue(forKey: number) else { return nil }
            if state.waiters[id]?.isEmpty == true { state.waiters[id] = nil }
            return waiter
        }
        continuation?.resume()
    }

    private func wake(_ id: URLID) { resume(state.withLock { $0.waiters.removeValue(forKey: id) }) }

    /// For a time in which messages may have been missed.
    private func wakeAll() {
        let all = state.withLock { state in
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiters in all.values { resume(waiters) }
    }

    private func resume(_ waiters: [UInt64: CheckedContinuation<Void, Never>?]?) {
        for waiter in (waiters ?? [:]).values { waiter?.resume() }
    }
}
