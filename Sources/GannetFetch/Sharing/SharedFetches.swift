package import GannetHTTP

/// The fetches that are under way, each shared by all callers of its key.
///
/// Callers leave one by one: a cancelled caller is answered at once, and the others notice nothing. When the last caller has left, the fetch
/// is cancelled, unless callers of another process wait for it.
package actor SharedFetches<Key: Hashable & Sendable, Value: Sendable> {
    package typealias Outcome = Result<Value, FetchError>
    package typealias Fetch = @Sendable (SharedWork) async -> Outcome
    private typealias Table = SharedFetchTable<Key>

    private struct Running {
        let key: Key
        let task: Task<Void, Never>
        let work: SharedWork
        /// Asks whether other processes still want the fetch.
        var watch: Task<Void, Never>?
    }

    private var table = Table()
    private var running: [Table.FetchID: Running] = [:]
    /// Cancelled fetches that have not ended yet, and still hold their resources.
    private var cancelled: [Table.FetchID: Task<Void, Never>] = [:]
    private var subscribers: [Table.SubscriberID: CheckedContinuation<Outcome?, Never>] = [:]

    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: Waits for the deadlines of callers. Throws when the task is cancelled.
    package init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) { self.sleep = sleep }

    /// How many fetches are under way.
    package var count: Int { table.count }

    /// How many callers wait for them.
    package var subscriberCount: Int { subscribers.count }

    /// The priority of the fetch of this key, if one is under way.
    func priority(of key: Key) -> FetchPriority? { running.values.first { $0.key == key }?.work.priority.value }

    /// Waits for the fetch of this key that is under way, or starts this one. Returns `nil` when the caller's task or the key is cancelled, and
    /// a timeout when the caller's deadline is over.
    package func outcome(for key: Key, _ caller: Caller, _ fetch: @escaping Fetch) async -> Outcome? {
        if Task.isCancelled { return nil }
        let priority = caller.priority.value
        let (subscriber, id, joining) = table.join(key, priority)
        let following: UInt64?
        switch joining {
        case .starts:
            let work = SharedWork(priority)
            // Before the fetch begins, so that its first transfer knows of the listener.
            following = caller.body.map { work.bodies.listen($0, isOwn: true) }
            start(key, id, work, fetch)
        case .joins(let raised):
            following = caller.body.flatMap { running[id]?.work.bodies.listen($0, isOwn: false) }
            if let raised { change(id, to: raised) }
        }
        let relay = running[id]?.work.progress
        let listening = caller.progress.flatMap { progress in relay?.listen { if let news = $0 { progress(news) } } }
        let bodies = running[id]?.work.bodies
        let present = caller.priority.listen { [weak self] priority in Task { await self?.change(subscriber, to: priority) } }
        // The priority may have changed before there was a listener.
        if present != priority { change(subscriber, to: present) }
        let timer = timer(caller.deadline, subscriber)
        defer {
            timer?.cancel()
            caller.priority.listen(nil)
            if let listening { relay?.remove(listening) }
            if let following { bodies?.remove(following) }
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { subscribers[subscriber] = $0 }
        } onCancel: {
            // Runs after the continuation is stored: until then this actor is busy here.
            Task { await self.leave(subscriber) }
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
    package func close(where isMeant: @Sendable (Key) -> Bool = { _ in true }) { table.close(isMeant) }

    private func start(_ key: Key, _ id: Table.FetchID, _ work: SharedWork, _ fetch: @escaping Fetch) {
        let task = Task(priority: work.priority.value.taskPriority) {
            let outcome = await fetch(work)
            self.cancelled[id] = nil
            self.end(id, outcome)
        }
        running[id] = Running(key: key, task: task, work: work)
    }

    private func end(_ id: Table.FetchID, _ outcome: Outcome?) {
        running.removeValue(forKey: id)?.watch?.cancel()
        for subscriber in table.end(id) { subscribers.removeValue(forKey: subscriber)?.resume(returning: outcome) }
    }

    private func cancel(_ id: Table.FetchID) {
        guard let fetch = running[id] else { return }
        fetch.task.cancel()
        cancelled[id] = fetch.task
        end(id, nil)
    }

    /// A clock need not be able to count further.
    private static var longestDeadline: Duration { .seconds(365 * 86_400) }

    private nonisolated func timer(_ deadline: Duration?, _ subscriber: Table.SubscriberID) -> Task<Void, Never>? {
        deadline.map { deadline in
            Task { [weak self, sleep] in
                guard (try? await sleep(min(max(.zero, deadline), Self.longestDeadline))) != nil else { return }
                await self?.leave(subscriber, after: deadline)
            }
        }
    }

    /// - Parameter deadline: For how long the caller has waited; nil for a caller that is cancelled.
    private func leave(_ subscriber: Table.SubscriberID, after deadline: Duration? = nil) {
        let (id, leaving) = table.leave(subscriber)
        let outcome = deadline.map { Outcome.failure(Self.timeout($0, id.flatMap { running[$0]?.work.hostWait.left(at: .now) })) }
        if let id {
            switch leaving {
            case .nothing: break
            case .goesOn(let lowered): if let lowered { change(id, to: lowered) }
            case .deserts: endUnlessWantedElsewhere(id)
            }
        }
        subscribers.removeValue(forKey: subscriber)?.resume(returning: outcome)
    }

    private static func timeout(_ deadline: Duration, _ hostWait: Duration?) -> FetchError {
        let reason = hostWait == nil ? "" : "; its host rests, or has no place free"
        return FetchError(kind: .timeout(.deadline), url: "", detail: "not done within \(deadline)\(reason)", retryAfter: hostWait)
    }

    /// How often a fetch without callers here asks whether other processes still want it.
    private static var askedEvery: Duration { .seconds(2) }

    private func endUnlessWantedElsewhere(_ id: Table.FetchID) {
        guard let elsewhere = running[id]?.work.elsewhere, elsewhere.mayWant else { return cancel(id) }
        running[id]?.watch?.cancel()
        running[id]?.watch = Task { [sleep] in
            while self.table.isDeserted(id), !Task.isCancelled {
                guard await elsewhere.wants() else {
                    // Somebody here may have joined meanwhile.
                    if self.table.isDeserted(id) { self.cancel(id) }
                    return
                }
                try? await sleep(Self.askedEvery)
            }
        }
    }

    private func change(_ subscriber: Table.SubscriberID, to priority: FetchPriority) {
        if let (id, priority) = table.change(subscriber, to: priority) { change(id, to: priority) }
    }

    private func change(_ id: Table.FetchID, to priority: FetchPriority) {
        guard let fetch = running[id] else { return }
        fetch.work.priority.change(to: priority)
        fetch.task.escalatePriority(to: priority.taskPriority)
    }
}
