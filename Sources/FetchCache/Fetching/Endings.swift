internal import GannetBasics

/// How leases are given up: without keeping the callers, who have their answer, waiting for a Redis that does not reply.
final class Endings: Sendable {
    private struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var last: UInt64 = 0
    }

    /// A reply in good times takes a thousandth of this. Waiting for it means that a program which ends with its last answer has shared it.
    static let patience = Duration.milliseconds(250)
    private let state = Mutex(State())

    /// Runs `ending`; returns when it is done, or goes on behind the caller.
    func run(patience: Duration = Endings.patience, _ ending: @escaping @Sendable () async -> Void) async {
        let done = Done()
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        state.withLock { state in
            // Begun under the lock, so that it is in the table before it can be taken out.
            state.tasks[number] = Task {
                await ending()
                done.fire()
                ended(number)
            }
        }
        let timer = Task {
            try? await Task.sleep(for: patience)
            done.fire()
        }
        await done.wait()
        timer.cancel()
    }

    private func ended(_ number: UInt64) { state.withLock { _ = $0.tasks.removeValue(forKey: number) } }

    /// Returns when all that began before are done, or the time is over.
    func finish(patience: Duration) async {
        let tasks = state.withLock { Array($0.tasks.values) }
        await run(patience: patience) { for task in tasks { await task.value } }
    }
}

/// Something that happens once, and somebody who waits for it.
private final class Done: Sendable {
    private struct State {
        var isFired = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func fire() {
        let waiter = state.withLock { state in
            state.isFired = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isFired = state.withLock { state in
                if !state.isFired { state.waiter = continuation }
                return state.isFired
            }
            if isFired { continuation.resume() }
        }
    }
}
