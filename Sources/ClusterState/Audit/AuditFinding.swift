/// A difference between the state and its rules, found by an audit.
package struct AuditFinding: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        // Leases and locks.
        case leaseWithoutExpiry, expiryWithoutLease, flightWithoutLock
        // Lists that belong to a URL in flight.
        case lockWithoutFlight, parkedWithoutFlight, waitersWithoutFlight, chainNotNamed, freedWithoutChain
        // Jobs that wait for a host.
        case hostCount, strayMove, heldNotDue
        // Counters of queues and batches; accepted jobs that are nowhere, and jobs that were never counted.
        case counter, jobsLost, jobsUncounted
        /// A key holds a value of another type. Only the program that wrote the key can know what to do.
        case wrongType
        /// A part is too large for one step, or was written by a newer version.
        case notChecked
    }

    package let kind: Kind
    package var count: Int

    /// One case in words. The text names hosts, queues and the first bytes of URLs' ids, never a URL or a token.
    package let example: String

    /// The audit has mended the difference.
    package let isMended: Bool
}

extension AuditFinding.Kind {
    /// Whether an audit that mends can mend this kind.
    package var isMendable: Bool { self != .wrongType && self != .notChecked }

    /// False for a part that was not checked.
    package var isDrift: Bool { self != .notChecked }

    /// The consequence for the person who runs the audit.
    package var meaning: String {
        switch self {
        case .leaseWithoutExpiry: "Had their worker died, their jobs would never have come back. They end now like any other lease."
        case .expiryWithoutLease: "They cost a claim a look each and nothing else."
        case .flightWithoutLock: "The same URL could have been fetched twice at a time."
        case .lockWithoutFlight: "Nobody fetches these URLs, and jobs for them would wait."
        case .parkedWithoutFlight: "These jobs would have waited for ever. They go on with the next claim."
        case .waitersWithoutFlight: "Programs wait for their own timeout instead of being told."
        case .chainNotNamed: "These jobs would have waited for ever. They go on with the next claim."
        case .freedWithoutChain: "They cost a claim a look each and nothing else."
        case .hostCount: "Too high a count keeps a host's jobs waiting; too low a one lets more requests start than its limit."
        case .strayMove: "They take up room in Redis and nothing else."
        case .heldNotDue: "Jobs for these hosts would have waited for ever. They go on with the next claim."
        case .counter: "'status' and 'batch show' said something that was not so; workers may have ended too early or too late."
        case .jobsLost: "Redis has lost them. They count as failed from now on, so that nobody waits for them: enqueue their list again."
        case .jobsUncounted: "They are fetched all the same; only totals were too low."
        case .wrongType: "Somebody else writes to this namespace. Only they can tell what the key is for: look, and delete it by hand."
        case .notChecked: "Too large to be looked at in one step, or written by a newer version. Look again when less is waiting."
        }
    }
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
