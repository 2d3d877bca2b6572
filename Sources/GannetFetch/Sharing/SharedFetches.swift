package import GannetHTTP

/// The fetches that are under way, each shared by all callers of its key.
///
/// Callers leave one by one: a cancelled caller is answered at once, and the others notice nothing. When the last caller has left, the fetch
/// is cancelled, unless callers of another process wait for it.
package actor SharedFetches<Key: Hashable & Sendable, Value: Sendable> {
    package typealias Outcome = Result<Value, FetchError>
    package typealias Fetch = @Sendable (SharedWork) async -> Outcome

    private struct Running {
        let key: Key
        let task: Task<Void, Never>
        let work: SharedWork
        var callers: [UInt64: Waiting] = [:]
        /// How many callers each priority has, so that one of ten thousand can leave without a look at the others.
        var counts = [Int](repeating: 0, count: FetchPriority.allCases.count)
        /// Asks whether other processes still want the fetch.
        var watch: Task<Void, Never>?

        var priority: FetchPriority { FetchPriority(rawValue: counts.lastIndex { $0 > 0 } ?? 0) ?? .background }
    }

    private struct Waiting {
        var priority: FetchPriority
        var answer: CheckedContinuation<Outcome?, Never>?
    }

    /// By the number of the caller for whom each began.
    private var running: [UInt64: Running] = [:]
    /// The fetches that further callers join.
    private var current: [Key: UInt64] = [:]
    /// Cancelled fetches that have not ended yet, and still hold their resources.
    private var cancelled: [UInt64: Task<Void, Never>] = [:]
    private var lastNumber: UInt64 = 0

    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: Waits for the deadlines of callers. Throws when the task is cancelled.
    package init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) { self.sleep = sleep }

    /// How many fetches are under way.
    package var count: Int { running.count }

    /// How many callers wait for them.
    package var subscriberCount: Int { running.values.reduce(0) { $0 + $1.callers.count } }

    /// The priority of the fetch of this key, if one is under way.
    func priority(of key: Key) -> FetchPriority? { running.values.first { $0.key == key }?.work.priority.value }

    /// Waits for the fetch of this key that is under way, or starts this one. Returns `nil` when the caller's task or the key is cancelled, and
    /// a timeout when the caller's deadline is over.
    package func outcome(for key: Key, _ caller: Caller, _ fetch: @escaping Fetch) async -> Outcome? {
        if Task.isCancelled { return nil }
        let priority = caller.priority.value
        lastNumber += 1
        let number = lastNumber
        let id = current[key] ?? number
        let work = running[id]?.work ?? SharedWork(priority)
        // Before the fetch begins, so that its first transfer knows of the listener.
        let following = caller.body.map { listener in
            work.bodies.listen { body in
                if let body { listener(body, id == number) }
            }
        }
        if id == number { start(key, id, work, fetch) }
        running[id]?.callers[number] = Waiting(priority: priority)
        running[id]?.counts[priority.rawValue] += 1
        settlePriority(of: id)
        let listening = caller.progress.map { progress in work.progress.listen { if let news = $0 { progress(news) } } }
        let present = caller.priority.listen { [weak self] priority in Task { await self?.change(number, of: id, to: priority) } }
        // The priority may have changed before there was a listener.
        if present != priority { change(number, of: id, to: present) }
        let timer = timer(caller.deadline, number, id)
        defer {
            timer?.cancel()
            caller.priority.listen(nil)
            if let listening { work.progress.remove(listening) }
            if let following { work.bodies.remove(following) }
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { running[id]?.callers[number]?.answer = $0 }
        } onCancel: {
            // Runs after the continuation is stored: until then this actor is busy here.
            Task { await self.leave(number, id) }
        }
    }

    /// Cancels the fetches of these keys for all their callers. Returns the tasks of all cancelled fetches that have not ended yet.
    @discardableResult
    package func cancel(where isMeant: @Sendable (Key) -> Bool = { _ in true }) -> [Task<Void, Never>] {
        let meant = running.filter { isMeant($0.value.key) }
        for id in meant.keys { cancel(id) }
        return Array(cancelled.values)
    }

    /// Lets no caller join the fetches of these keys any more. The present callers still get their outcome.
    package func close(where isMeant: @Sendable (Key) -> Bool = { _ in true }) {
        current = current.filter { !isMeant($0.key) }
    }

    private func start(_ key: Key, _ id: UInt64, _ work: SharedWork, _ fetch: @escaping Fetch) {
        let task = Task(priority: work.priority.value.taskPriority) {
            let outcome = await fetch(work)
            self.cancelled[id] = nil
            self.end(id, outcome)
        }
        running[id] = Running(key: key, task: task, work: work)
        current[key] = id
    }

    private func end(_ id: UInt64, _ outcome: Outcome?) {
        guard let fetch = running.removeValue(forKey: id) else { return }
        fetch.watch?.cancel()
        if current[fetch.key] == id { current[fetch.key] = nil }
        for caller in fetch.callers.values { caller.answer?.resume(returning: outcome) }
    }

    private func cancel(_ id: UInt64) {
        guard let fetch = running[id] else { return }
        fetch.task.cancel()
        cancelled[id] = fetch.task
        end(id, nil)
    }

    /// A clock need not be able to count further.
    private static var longestDeadline: Duration { .seconds(365 * 86_400) }

    private nonisolated func timer(_ deadline: Duration?, _ number: UInt64, _ id: UInt64) -> Task<Void, Never>? {
        deadline.map { deadline in
            Task { [weak self, sleep] in
                guard (try? await sleep(min(max(.zero, deadline), Self.longestDeadline))) != nil else { return }
                await self?.leave(number, id, after: deadline)
            }
        }
    }

    /// - Parameter deadline: For how long the caller has waited; nil for a caller that is cancelled.
    private func leave(_ number: UInt64, _ id: UInt64, after deadline: Duration? = nil) {
        guard let caller = running[id]?.callers.removeValue(forKey: number) else { return }
        running[id]?.counts[caller.priority.rawValue] -= 1
        let outcome = deadline.map { Outcome.failure(Self.timeout($0, running[id]?.work.hostWait.left(at: .now))) }
        if isDeserted(id) { endUnlessWantedElsewhere(id) } else { settlePriority(of: id) }
        caller.answer?.resume(returning: outcome)
    }

    private static func timeout(_ deadline: Duration, _ hostWait: Duration?) -> FetchError {
        let reason = hostWait == nil ? "" : "; its host rests, or has no place free"
        return FetchError(kind: .timeout(.deadline), url: "", detail: "not done within \(deadline)\(reason)", retryAfter: hostWait)
    }

    /// How often a fetch without callers here asks whether other processes still want it.
    private static var askedEvery: Duration { .seconds(2) }

    /// Whether the fetch is under way, and nobody in this process waits for it. Until it ends a new caller may join it.
    private func isDeserted(_ id: UInt64) -> Bool { running[id]?.callers.isEmpty ?? false }

    private func endUnlessWantedElsewhere(_ id: UInt64) {
        guard let elsewhere = running[id]?.work.elsewhere, elsewhere.mayWant else { return cancel(id) }
        running[id]?.watch?.cancel()
        running[id]?.watch = Task { [sleep] in
            while self.isDeserted(id), !Task.isCancelled {
                guard await elsewhere.wants() else {
                    // Somebody here may have joined meanwhile.
                    if self.isDeserted(id) { self.cancel(id) }
                    return
                }
                try? await sleep(Self.askedEvery)
            }
        }
    }

    private func change(_ number: UInt64, of id: UInt64, to priority: FetchPriority) {
        guard let before = running[id]?.callers[number]?.priority else { return }
        running[id]?.callers[number]?.priority = priority
        running[id]?.counts[before.rawValue] -= 1
        running[id]?.counts[priority.rawValue] += 1
        settlePriority(of: id)
    }

    /// A fetch has the highest priority of its callers.
    private func settlePriority(of id: UInt64) {
        guard let fetch = running[id], fetch.priority != fetch.work.priority.value else { return }
        fetch.work.priority.change(to: fetch.priority)
        fetch.task.escalatePriority(to: fetch.priority.taskPriority)
    }
}
