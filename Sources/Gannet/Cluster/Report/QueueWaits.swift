internal import ClusterState

/// Jobs that nobody can take now, and what they wait for.
package struct QueueWaits: Sendable, Equatable {
    /// For their hosts, which rest or have no room; and how many hosts these are.
    package var held = 0
    package var hosts = 0

    /// For their time: the next attempt, or the first.
    package var delayed = 0

    package var total: Int { held + delayed }

    package init(held: Int = 0, hosts: Int = 0, delayed: Int = 0) {
        self.held = held
        self.hosts = hosts
        self.delayed = delayed
    }

    init(_ held: HeldJobs, delayed: Int) {
        self.init(held: held.jobs, hosts: held.hosts, delayed: max(0, delayed))
    }
}
