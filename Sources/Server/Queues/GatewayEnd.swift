internal import GannetBase

/// Whether a gateway is about to end, for answers that have no end of their own.
final class GatewayEnd: Sendable {
    private struct State {
        var hasCome = false
        var sleeps: [UInt64: Task<Void, Never>] = [:]
        var lastSleep: UInt64 = 0
    }

    private let state = Mutex(State())

    var hasCome: Bool { state.withLock { $0.hasCome } }

    func come() {
        let sleeps = state.withLock { state in
            state.hasCome = true
            return Array(state.sleeps.values)
        }
        for sleep in sleeps { sleep.cancel() }
    }

    /// Returns after this time, or earlier when the end comes. Throws when the caller's task is cancelled.
    func sleep(for time: Duration) async throws {
        let sleep = Task { _ = try? await Task.sleep(for: time) }
        let (number, hasCome) = state.withLock { state in
            state.lastSleep += 1
            state.sleeps[state.lastSleep] = sleep
            return (state.lastSleep, state.hasCome)
        }
        if hasCome { sleep.cancel() }
        await withTaskCancellationHandler {
            await sleep.value
        } onCancel: {
            sleep.cancel()
        }
        state.withLock { $0.sleeps[number] = nil }
        try Task.checkCancellation()
    }
}
