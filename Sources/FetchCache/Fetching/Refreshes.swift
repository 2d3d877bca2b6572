internal import GannetBasics
internal import HTTPCaching

/// What is fetched again behind callers that have been answered: each URL once at a time, and not too many.
final class Refreshes: Sendable {
    private struct State {
        var tasks: [CacheKey: Task<Void, Never>] = [:]
        var isOver = false
    }

    private let most: Int
    private let state = Mutex(State())

    init(most: Int) { self.most = most }

    /// False where the URL is being fetched already or there is no room: then somebody who comes later will have it fetched.
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

    /// Calls off all; returns their tasks, which may take a while to come to their end.
    func end() -> [Task<Void, Never>] {
        let tasks = state.withLock { state in
            state.isOver = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        return tasks
    }

    // The task cannot be here before `start` has let the lock go.
    private func ended(_ key: CacheKey) { state.withLock { _ = $0.tasks.removeValue(forKey: key) } }
}
