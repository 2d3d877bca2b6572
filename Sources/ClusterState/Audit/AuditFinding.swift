/// Something an audit found that should not be.
package struct AuditFinding: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        // Flights.
        case leaseWithoutExpiry, expiryWithoutLease, flightWithoutLock
        // What belongs to a flight.
        case lockWithoutFlight, parkedWithoutFlight, waitersWithoutFlight, chainNotNamed, freedWithoutChain
        // What waits for a host.
        case hostCount, strayMove, heldNotDue
        // Counters of queues and batches; jobs that were accepted and are nowhere, or are there and were never counted.
        case counter, jobsLost, jobsUncounted
        /// A key holds a value of another type. Only whoever wrote it can know what to do.
        case wrongType
        /// A part is too large to be looked at in one step, or is a newer version's.
        case notChecked
    }

    package let kind: Kind
    package var count: Int

    /// One of them, in words. It names hosts, queues and the first bytes of URLs' ids, never a URL or a token.
    package let example: String

    /// What was found is as it should be now.
    package let isMended: Bool
}

extension AuditFinding.Kind {
    /// Whether an audit that is asked to can set it right.
    package var isMendable: Bool { self != .wrongType && self != .notChecked }
}

extension AuditFinding.Kind: CustomStringConvertible {
    package var description: String {
        switch self {
        case .leaseWithoutExpiry: "leases that would never end"
        case .expiryWithoutLease: "ends of leases that are not there"
        case .flightWithoutLock: "URLs in flight that were not locked"
        case .lockWithoutFlight: "locks of nobody"
        case .parkedWithoutFlight: "lists of jobs that waited for nobody's fetch"
        case .waitersWithoutFlight: "callers that waited for nobody's fetch"
        case .chainNotNamed: "lists of jobs whose URL was settled and that no claim would have found"
        case .freedWithoutChain: "names of lists that are not there"
        case .hostCount: "hosts with a wrong count of requests in flight"
        case .strayMove: "places at other hosts, noted for requests that are none"
        case .heldNotDue: "hosts whose waiting jobs no claim would have looked at"
        case .counter: "wrong counters"
        case .jobsLost: "accepted jobs that are nowhere"
        case .jobsUncounted: "jobs that were counted nowhere"
        case .wrongType: "keys that hold something else"
        case .notChecked: "parts that were not checked"
        }
    }
}
