/// A difference between the state and its rules, found by an audit.
package struct AuditFinding: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        // Leases and locks.
        case leaseWithoutExpiry, expiryWithoutLease, flightWithoutLock
        // Lists that belong to a URL in flight.
        case lockWithoutFlight, parkedWithoutFlight, waitersWithoutFlight, chainNotNamed, freedWithoutChain
        // Jobs that wait for a host.
        case hostCount, strayMove, heldNotDue
        // Counters of queues and batches; accepted jobs that are in no list, and jobs that were never counted.
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
        case .leaseWithoutExpiry: "The jobs of a dead worker would never have come back. These leases end now like any other."
        case .expiryWithoutLease: "A claim looks at each of them once. They do no other harm."
        case .flightWithoutLock: "The same URL could have been fetched twice at a time."
        case .lockWithoutFlight: "Nobody fetches these URLs, and jobs for them would wait."
        case .parkedWithoutFlight: "These jobs would have waited for ever. They go on with the next claim."
        case .waitersWithoutFlight: "Nothing wakes these callers before their own timeouts."
        case .chainNotNamed: "These jobs would have waited for ever. They go on with the next claim."
        case .freedWithoutChain: "A claim looks at each of them once. They do no other harm."
        case .hostCount: "Too high a count keeps a host's jobs waiting; too low a one lets more requests start than its limit."
        case .strayMove: "They take up room in Redis, and do no other harm."
        case .heldNotDue: "Jobs for these hosts would have waited for ever. They go on with the next claim."
        case .counter: "'status' and 'batch show' have shown wrong totals; workers may have ended too early or too late."
        case .jobsLost: "Redis has lost them. They count as failed from now on, so that nobody waits for them: enqueue their list again."
        case .jobsUncounted: "They are fetched all the same; only totals were too low."
        case .wrongType: "Another program writes to this namespace. Find out what the key is for, and delete it by hand if nobody needs it."
        case .notChecked: "They are too large for one step, or a newer version wrote them. Check again when fewer jobs wait."
        }
    }
}

extension AuditFinding.Kind: CustomStringConvertible {
    package var description: String {
        switch self {
        case .leaseWithoutExpiry: "leases that would never end"
        case .expiryWithoutLease: "end times of leases that do not exist"
        case .flightWithoutLock: "URLs that were being fetched without a lock"
        case .lockWithoutFlight: "locks of URLs that nobody fetches"
        case .parkedWithoutFlight: "lists of jobs that waited for a fetch that does not exist"
        case .waitersWithoutFlight: "callers that waited for a fetch that does not exist"
        case .chainNotNamed: "lists of jobs whose URL was settled and that no claim would have found"
        case .freedWithoutChain: "names of lists that do not exist"
        case .hostCount: "hosts with a wrong count of requests in flight"
        case .strayMove: "places at other hosts, noted for requests that do not exist"
        case .heldNotDue: "hosts whose waiting jobs no claim would have looked at"
        case .counter: "wrong counters"
        case .jobsLost: "accepted jobs that are missing from the queue"
        case .jobsUncounted: "jobs that were missing from the totals"
        case .wrongType: "keys that hold a value of another type"
        case .notChecked: "parts of the state that could not be checked"
        }
    }
}
