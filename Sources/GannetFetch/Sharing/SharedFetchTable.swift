/// Decides which caller waits for which shared fetch. It takes events, returns what is to be done, and does nothing itself.
///
/// A shared fetch is one fetch of one key, for all callers that ask while it lasts. It starts with its first subscriber. When the last one
/// leaves it is deserted: it ends, unless callers of other processes wait for it, and until then a new caller may join it.
struct SharedFetchTable<Key: Hashable & Sendable> {
    struct FetchID: Hashable, Sendable { let number: UInt64 }
    struct SubscriberID: Hashable, Sendable { let number: UInt64 }

    enum Joining: Equatable {
        case starts
        /// The fetch was there. It has a new priority now, or the same where this is nil.
        case joins(raisedTo: FetchPriority?)
    }

    enum Leaving: Equatable {
        /// The subscriber was not there any more.
        case nothing
        /// The fetch goes on. It has a new priority now, or the same where this is nil.
        case goesOn(loweredTo: FetchPriority?)
        /// Nobody in this process waits for the fetch.
        case deserts
    }

    private struct Fetch {
        let key: Key
        var subscribers: [SubscriberID: FetchPriority] = [:]
        /// The number of subscribers of each priority, so that one of ten thousand can leave without a look at the others.
        var counts = [Int](repeating: 0, count: FetchPriority.allCases.count)

        var priority: FetchPriority {
            FetchPriority(rawValue: counts.lastIndex { $0 > 0 } ?? 0) ?? .background
        }
    }

    private var fetches: [FetchID: Fetch] = [:]
    private var current: [Key: FetchID] = [:]
    private var fetchOf: [SubscriberID: FetchID] = [:]
    private var lastFetch: UInt64 = 0
    private var lastSubscriber: UInt64 = 0

    var count: Int { fetches.count }

    mutating func join(_ key: Key, _ priority: FetchPriority) -> (SubscriberID, FetchID, Joining) {
        lastSubscriber += 1
        let subscriber = SubscriberID(number: lastSubscriber)
        if let id = current[key], let before = fetches[id]?.priority {
            add(subscriber, priority, to: id)
            return (subscriber, id, .joins(raisedTo: priority > before ? priority : nil))
        }
        lastFetch += 1
        let id = FetchID(number: lastFetch)
        fetches[id] = Fetch(key: key)
        current[key] = id
        add(subscriber, priority, to: id)
        return (subscriber, id, .starts)
    }

    mutating func leave(_ subscriber: SubscriberID) -> (FetchID?, Leaving) {
        guard let id = fetchOf.removeValue(forKey: subscriber), let before = fetches[id]?.priority,
            let priority = fetches[id]?.subscribers.removeValue(forKey: subscriber)
        else { return (nil, .nothing) }
        fetches[id]?.counts[priority.rawValue] -= 1
        guard let fetch = fetches[id], !fetch.subscribers.isEmpty else {
            return (id, .deserts)
        }
        return (id, .goesOn(loweredTo: fetch.priority < before ? fetch.priority : nil))
    }

    /// Whether the fetch is under way, and nobody in this process waits for it.
    func isDeserted(_ id: FetchID) -> Bool { fetches[id]?.subscribers.isEmpty ?? false }

    /// Changes the priority of one subscriber. Returns its fetch, and the fetch's new priority where that has changed.
    mutating func change(_ subscriber: SubscriberID, to priority: FetchPriority) -> (FetchID, FetchPriority)? {
        guard let id = fetchOf[subscriber], let before = fetches[id]?.priority, let old = fetches[id]?.subscribers[subscriber]
        else { return nil }
        fetches[id]?.counts[old.rawValue] -= 1
        fetches[id]?.counts[priority.rawValue] += 1
        fetches[id]?.subscribers[subscriber] = priority
        guard let now = fetches[id]?.priority, now != before else { return nil }
        return (id, now)
    }

    /// Lets no caller join the fetches of these keys any more: the next caller starts another fetch.
    mutating func close(_ isMeant: (Key) -> Bool) {
        for key in current.keys where isMeant(key) { current[key] = nil }
    }

    /// Takes a fetch out of the table; returns its subscribers.
    mutating func end(_ id: FetchID) -> [SubscriberID] {
        guard let fetch = fetches.removeValue(forKey: id) else { return [] }
        if current[fetch.key] == id { current[fetch.key] = nil }
        let subscribers = Array(fetch.subscribers.keys)
        for subscriber in subscribers { fetchOf[subscriber] = nil }
        return subscribers
    }

    private mutating func add(_ subscriber: SubscriberID, _ priority: FetchPriority, to id: FetchID) {
        fetches[id]?.subscribers[subscriber] = priority
        fetches[id]?.counts[priority.rawValue] += 1
        fetchOf[subscriber] = id
    }
}
