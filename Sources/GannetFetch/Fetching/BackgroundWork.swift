internal import GannetBase
internal import GannetHTTP

/// Gives leases up without keeping callers, who have their answer, waiting for a Redis that does not reply.
final class Endings: Sendable {
    private struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var last: UInt64 = 0
    }

    /// A thousand times what a healthy Redis takes. A program that ends with its last answer has still shared it.
    static let patience = Duration.milliseconds(250)
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = Mutex(State())

    /// - Parameter sleep: Throws when the task is cancelled.
    init(sleep: @escaping @Sendable (Duration) async throws -> Void) { self.sleep = sleep }

    /// Runs `ending`. Returns when it is done, or when the time is over and it goes on in the background.
    func run(patience: Duration = Endings.patience, _ ending: @escaping @Sendable () async -> Void) async {
        let (signal, done) = AsyncStream.makeStream(of: Void.self)
        state.withLock { state in
            state.last += 1
            let number = state.last
            // The task starts under the lock, so that it is in the table before it can leave it.
            state.tasks[number] = Task {
                await ending()
                done.finish()
                self.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
            }
        }
        let timer = Task { [sleep] in
            try? await sleep(patience)
            done.finish()
        }
        // A cancelled caller waits as well: in its own task the loop would end at once.
        await Task { for await _ in signal {} }.value
        timer.cancel()
    }

    /// Returns when everything that runs in the background at this moment is done, or when the time is over.
    func finish(patience: Duration) async {
        let tasks = state.withLock { Array($0.tasks.values) }
        await run(patience: patience) { for task in tasks { await task.value } }
    }
}

/// Fetches in the background of callers that have their answer: each URL once at a time, and a bounded number of URLs.
final class Refreshes: Sendable {
    private struct State {
        var tasks: [CacheKey: Task<Void, Never>] = [:]
        var isOver = false
    }

    private let most: Int
    private let state = Mutex(State())

    init(most: Int) { self.most = most }

    /// False where the URL is being fetched already, or too many are. A later caller will then have it fetched.
    @discardableResult
    func start(_ key: CacheKey, _ work: @escaping @Sendable () async -> Void) -> Bool {
        state.withLock { state in
            guard !state.isOver, state.tasks[key] == nil, state.tasks.count < most else { return false }
            state.tasks[key] = Task(priority: .low) {
                await work()
                ended(key)
            }
            return true
        }
    }

    /// Cancels all fetches; returns their tasks, which may take a while to end.
    func end() -> [Task<Void, Never>] {
        let tasks = state.withLock { state in
            state.isOver = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        return tasks
    }

    // Waits for the lock that `start` holds, so the task is in the table by then.
    private func ended(_ key: CacheKey) { state.withLock { _ = $0.tasks.removeValue(forKey: key) } }
}
