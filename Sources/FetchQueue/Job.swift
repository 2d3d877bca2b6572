package import ClusterState

/// A URL to fetch, on lease to this process.
package struct Job: Sendable {
    package let url: String
    package let id: URLID

    /// Workers that died holding it before.
    package let crashes: Int

    /// The lease, without which no outcome is accepted.
    package let token: LeaseToken

    init(_ lease: ClaimAnswer.Lease) {
        url = lease.entry.url
        id = lease.entry.id
        crashes = lease.entry.crashes
        token = lease.token
    }
}
