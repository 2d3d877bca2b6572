internal import ClusterState

/// Jobs of a queue that somebody wants to see, or to do something about.
package struct JobQuery: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case ready, active, parked, delayed, dead
    }

    package var queue: String
    package var state: State

    /// Of this host only, without a port.
    package var host: String?

    /// Given up for this class of reasons only.
    package var errorClass: String?

    package init(queue: String, state: State, host: String? = nil, errorClass: String? = nil) {
        self.queue = queue
        self.state = state
        self.host = host
        self.errorClass = errorClass
    }

    var selection: JobSelection {
        let state: JobState =
            switch state {
            case .ready: .ready
            case .active: .active
            case .parked: .parked
            case .delayed: .delayed
            case .dead: .dead
            }
        return JobSelection(state, JobFilter(host: host, errorClass: errorClass))
    }
}
