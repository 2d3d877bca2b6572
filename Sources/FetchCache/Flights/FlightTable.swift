/// Who waits for which flight. Takes what happens, says what is to be done; does nothing itself.
///
/// A flight is one fetch of one key, for all who ask while it lasts. It takes off with its first subscriber, and is called off when the last
/// one leaves: then it is out of the table at once, and whoever asks next starts another.
struct FlightTable<Key: Hashable & Sendable> {
    struct FlightID: Hashable, Sendable { let number: UInt64 }
    struct SubscriberID: Hashable, Sendable { let number: UInt64 }

    enum Joining: Equatable {
        case takesOff
        /// The flight was there; its priority is this from now on, where that has changed.
        case joins(raisedTo: FetchPriority?)
    }

    enum Leaving: Equatable {
        /// The subscriber was not there any more.
        case nothing
        /// The flight goes on; its priority is this from now on, where that has changed.
        case goesOn(loweredTo: FetchPriority?)
        case callsOff
    }

    private struct Flight {
        let key: Key
        var subscribers: [SubscriberID: FetchPriority] = [:]
        /// How many there are of each priority: a thousand may leave a flight of ten thousand.
        var counts = [Int](repeating: 0, count: FetchPriority.allCases.count)

        var priority: FetchPriority {
            FetchPriority(rawValue: counts.lastIndex { $0 > 0 } ?? 0) ?? .background
        }
    }

    private var flights: [FlightID: Flight] = [:]
    private var current: [Key: FlightID] = [:]
    private var flightOf: [SubscriberID: FlightID] = [:]
    private var lastFlight: UInt64 = 0
    private var lastSubscriber: UInt64 = 0

    var count: Int { flights.count }

    mutating func join(_ key: Key, _ priority: FetchPriority) -> (SubscriberID, FlightID, Joining) {
        lastSubscriber += 1
        let subscriber = SubscriberID(number: lastSubscriber)
        if let id = current[key], let before = flights[id]?.priority {
            add(subscriber, priority, to: id)
            return (subscriber, id, .joins(raisedTo: priority > before ? priority : nil))
        }
        lastFlight += 1
        let id = FlightID(number: lastFlight)
        flights[id] = Flight(key: key)
        current[key] = id
        add(subscriber, priority, to: id)
        return (subscriber, id, .takesOff)
    }

    mutating func leave(_ subscriber: SubscriberID) -> (FlightID?, Leaving) {
        guard let id = flightOf.removeValue(forKey: subscriber), let before = flights[id]?.priority,
            let priority = flights[id]?.subscribers.removeValue(forKey: subscriber)
        else { return (nil, .nothing) }
        flights[id]?.counts[priority.rawValue] -= 1
        guard let flight = flights[id], !flight.subscribers.isEmpty else {
            _ = land(id)
            return (id, .callsOff)
        }
        return (id, .goesOn(loweredTo: flight.priority < before ? flight.priority : nil))
    }

    /// Lets nobody join the flights of these keys any more: whoever asks next starts another.
    mutating func close(_ isMeant: (Key) -> Bool) {
        for key in current.keys where isMeant(key) { current[key] = nil }
    }

    /// Ends the flight; returns who waits for it.
    mutating func land(_ id: FlightID) -> [SubscriberID] {
        guard let flight = flights.removeValue(forKey: id) else { return [] }
        if current[flight.key] == id { current[flight.key] = nil }
        let subscribers = Array(flight.subscribers.keys)
        for subscriber in subscribers { flightOf[subscriber] = nil }
        return subscribers
    }

    private mutating func add(_ subscriber: SubscriberID, _ priority: FetchPriority, to id: FlightID) {
        flights[id]?.subscribers[subscriber] = priority
        flights[id]?.counts[priority.rawValue] += 1
        flightOf[subscriber] = id
    }
}
