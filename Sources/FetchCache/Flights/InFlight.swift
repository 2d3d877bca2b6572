package import HTTPEngine

/// One fetch for all who ask for the same while it lasts.
///
/// Each caller leaves on its own: a cancelled one is answered at once and nobody else notices. When the last one leaves, the fetch is cancelled.
package actor InFlight<Key: Hashable & Sendable, Value: Sendable> {
    package typealias Outcome = Result<Value, FetchError>
    package typealias Fetch = @Sendable (FlightPriority) async -> Outcome
    private typealias Table = FlightTable<Key>

    private struct Flight {
        let key: Key
        let task: Task<Void, Never>
        let priority: FlightPriority
    }

    private var table = Table()
    private var flights: [Table.FlightID: Flight] = [:]
    /// Called off, and not yet at their end: what they hold is still to be given up.
    private var calledOff: [Table.FlightID: Task<Void, Never>] = [:]
    private var subscribers: [Table.SubscriberID: CheckedContinuation<Outcome?, Never>] = [:]

    package init() {}

    /// How many fetches are under way.
    package var count: Int { table.count }

    /// How many wait for them.
    package var subscriberCount: Int { subscribers.count }

    /// Waits for the fetch of this key that is under way, or else for this one; `nil` when the caller's task is cancelled, or the key is.
    package func outcome(for key: Key, priority: FetchPriority, _ fetch: @escaping Fetch) async -> Outcome? {
        if Task.isCancelled { return nil }
        let (subscriber, id, joining) = table.join(key, priority)
        switch joining {
        case .takesOff: takeOff(key, id, priority, fetch)
        case .joins(let raised): if let raised { change(id, to: raised) }
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { subscribers[subscriber] = $0 }
        } onCancel: {
            // Comes in after the continuation is in place: until then this actor is busy here.
            Task { await self.leave(subscriber) }
        }
    }

    /// Calls off the fetches of all keys that are meant, for all who wait for them. Returns all tasks that have been called off and may take a while to come
    /// to their end.
    @discardableResult
    package func cancel(where isMeant: @Sendable (Key) -> Bool = { _ in true }) -> [Task<Void, Never>] {
        let meant = flights.filter { isMeant($0.value.key) }
        for id in meant.keys { callOff(id) }
        return Array(calledOff.values)
    }

    /// Leaves the fetches of all keys that are meant to those who wait for them: whoever asks from now on has a fetch of his own.
    package func close(where isMeant: @Sendable (Key) -> Bool = { _ in true }) { table.close(isMeant) }

    private func takeOff(_ key: Key, _ id: Table.FlightID, _ priority: FetchPriority, _ fetch: @escaping Fetch) {
        let flightPriority = FlightPriority(priority)
        let task = Task(priority: priority.taskPriority) {
            let outcome = await fetch(flightPriority)
            self.calledOff[id] = nil
            self.land(id, outcome)
        }
        flights[id] = Flight(key: key, task: task, priority: flightPriority)
    }

    private func land(_ id: Table.FlightID, _ outcome: Outcome?) {
        flights[id] = nil
        for subscriber in table.land(id) { subscribers.removeValue(forKey: subscriber)?.resume(returning: outcome) }
    }

    private func callOff(_ id: Table.FlightID) {
        guard let flight = flights[id] else { return }
        flight.task.cancel()
        calledOff[id] = flight.task
        land(id, nil)
    }

    private func leave(_ subscriber: Table.SubscriberID) {
        let (id, leaving) = table.leave(subscriber)
        if let id {
            switch leaving {
            case .nothing: break
            case .goesOn(let lowered): if let lowered { change(id, to: lowered) }
            case .callsOff: callOff(id)
            }
        }
        subscribers.removeValue(forKey: subscriber)?.resume(returning: nil)
    }

    private func change(_ id: Table.FlightID, to priority: FetchPriority) {
        guard let flight = flights[id] else { return }
        flight.priority.change(to: priority)
        if #available(macOS 26, *) { flight.task.escalatePriority(to: priority.taskPriority) }
    }
}
