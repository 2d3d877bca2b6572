internal import GannetQueue

/// The places of requests that redirects have led to other hosts. A request has one place at a time.
extension WorkerMachine {
    /// Redis has answered a request that asked for a place at a host of this partition.
    /// - Parameter passage: `nil` where the call failed. The place may have been given: Redis takes back what the worker does not name.
    mutating func moved(_ token: LockToken, _ id: URLID, to partition: Int, _ passage: Passage?, at now: Instant) {
        let (target, home) = (laneOfPlace(partition, token.incarnation, at: now), home(of: token.incarnation))
        switch passage {
        case .there:
            lanes[target].session.holdings.add(.place(id), token)
            if elsewhere[token] != partition { leavePlaceElsewhere(token, id, .answered, at: now) }
            if target == home { return }
            elsewhere[token] = partition
            if let home { lanes[home].session.holdings.remove(.place(id), token) }
            // Another job has adopted the request meanwhile, and will not know of this place.
            if jobs[token] == nil { leavePlaceElsewhere(token, id, .none, at: now) }
        case .full:
            // The answer of a full host gives up all places of the request.
            lanes[target].session.holdings.mayNotHold(.place(id))
            if let home { lanes[home].session.holdings.remove(.place(id), token) }
            if elsewhere[token] == partition {
                elsewhere[token] = nil
                lanes[target].session.holdings.remove(.place(id), token)
            } else {
                leavePlaceElsewhere(token, id, .answered, at: now)
            }
        case .hopeless, .lost, nil: lanes[target].session.holdings.mayNotHold(.place(id))
        }
    }

    /// A request that has a place in another partition than its URL's leaves it.
    mutating func leavePlaceElsewhere(_ token: LockToken, _ id: URLID, _ host: Settlement.HostNews, at now: Instant) {
        guard !elsewhere.isEmpty, let partition = elsewhere.removeValue(forKey: token) else { return }
        let settlement = Settlement(token, id, .leftPlace, host: host)
        lanes[laneOfPlace(partition, token.incarnation, at: now)].append(Lane.Outgoing(settlement, since: now))
    }

    /// Gives the place of a request back that has ended, though its job has not.
    mutating func giveBackPlace(of job: Job, at now: Instant) {
        let index =
            if let partition = elsewhere[job.token] { laneOfPlace(partition, job.token.incarnation, at: now) } else { job.partition }
        guard !lanes[index].hasFailed else { return }
        lanes[index].append(Lane.Outgoing(Settlement(job.token, job.id, .leftPlace, host: .answered), since: now))
    }

    /// The partition in which an incarnation claims jobs.
    func home(of incarnation: Incarnation) -> Int? { (0..<order.count).first { lanes[$0].id.incarnation == incarnation } }

    func index(of id: Lane.ID) -> Int? {
        if lanes[id.partition].id == id { return id.partition }
        return lanes[order.count...].firstIndex { $0.id == id }
    }

    /// The lane that keeps a place at a host of this partition alive.
    mutating func laneOfPlace(_ partition: Int, _ incarnation: Incarnation, at now: Instant) -> Int {
        let id = Lane.ID(partition: partition, incarnation: incarnation)
        if let index = index(of: id) { return index }
        // The place began the lease there.
        lanes.append(Lane(id, leaseBegan: now))
        return lanes.count - 1
    }
}
