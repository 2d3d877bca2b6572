internal import ClusterState

/// Something in a namespace that should not be: what a server that lost data, or somebody who wrote to its keys, may have left.
package struct DriftFinding: Sendable, Equatable {
    /// Its name for scripts: `leaseWithoutExpiry`.
    package let kind: String
    package let count: Int

    /// What was found, in words, and one of them. Neither names a URL or a token.
    package let description: String
    package let example: String

    /// What it means for whoever runs this.
    package let meaning: String
    package let isMended: Bool
    package let isMendable: Bool

    /// Not so for a part that was not looked at.
    package let isDrift: Bool

    init(_ finding: AuditFinding) {
        kind = finding.kind.rawValue
        count = finding.count
        description = finding.kind.description
        example = finding.example
        meaning = finding.kind.meaning
        isMended = finding.isMended
        isMendable = finding.kind.isMendable
        isDrift = finding.kind != .notChecked
    }
}

extension Cluster {
    /// Looks over the whole namespace for drift and, when asked to, mends what it finds. It may run beside workers.
    package func audit(mend: Bool) async throws(ClusterError) -> [DriftFinding] {
        try await ClusterError.wrapping { () throws(StateError) in
            // Of no queue in particular: an audit is the namespace's.
            try await queue("default").audit(mend: mend).map(DriftFinding.init)
        }
    }
}

extension AuditFinding.Kind {
    fileprivate var meaning: String {
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
