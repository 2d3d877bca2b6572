internal import ClusterState
internal import GannetBasics
internal import RedisClient

/// Callers that wait until a URL is nobody's any more, woken by messages to this process' inbox.
///
/// Whoever waits takes a number before it asks for the URL: what is published between the answer "busy" and the wait is not missed.
final class FreedURLs: Sendable {
    private struct State {
        var waiters: [URLID: [UInt64: CheckedContinuation<Void, Never>?]] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Takes note of a caller that is about to ask.
    func expect(_ id: URLID) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.waiters[id, default: [:]][state.last] = .some(nil)
            return state.last
        }
    }

    /// The caller need not wait.
    func forget(_ number: UInt64, _ id: URLID) { wake(number, id) }

    /// Returns when the URL is free, or the time is over, or the task is cancelled.
    func wait(_ number: UInt64, _ id: URLID, atMost: Duration) async {
        let timer = Task {
            try? await Task.sleep(for: atMost)
            wake(number, id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // It has been freed since the caller asked.
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

    /// Goes through the inbox's messages until it ends.
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

    /// Messages may have been missed.
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
