internal import ClusterState

/// One submission and what has become of it.
package struct BatchStatus: Sendable, Equatable {
    package enum State: String, Sendable {
        /// Its input is still being read, or its producer was stopped on the way.
        case open
        /// All of its input is accepted, and something of it has not ended.
        case running
        case complete
        /// What was in flight then is still to end.
        case cancelling
        case cancelled
    }

    package let name: String
    package let state: State
    package let options: SubmissionOptions
    /// The names of what its requests carry besides what every request has.
    package let headerNames: [String]

    /// How long ago it was begun; `nil` for one that an earlier version began.
    package let age: Duration?

    package let total: Int
    package let done: Int
    package let failed: Int
    package let cancelled: Int
    package let ready: Int
    package let active: Int
    package let parked: Int
    package let delayed: Int

    /// Everything has ended, and nothing can be added.
    package var isComplete: Bool { state == .complete || state == .cancelled }

    package var ended: Int { done + failed + cancelled }

    /// What part of what was accepted has ended, from 0 to 1; `nil` where nothing was.
    package var progress: Double? { total > 0 ? Double(ended) / Double(total) : nil }

    init(_ record: BatchRecord, now: Int) {
        let counts = record.counts
        name = record.name
        state =
            switch counts.state {
            case .open: .open
            case .closed: counts.isComplete ? .complete : .running
            case .cancelled: counts.isComplete ? .cancelled : .cancelling
            }
        var options = SubmissionOptions()
        options.priority = .init(record.options.priority)
        options.refresh = record.options.refresh
        options.maximumAge = record.options.maximumAge
        options.trace = record.options.trace.map(TraceParent.init)
        self.options = options
        headerNames = record.options.headers.lines.map(\.name)
        age = record.began.map { .milliseconds(max(0, now - $0)) }
        total = counts.total
        done = counts.done
        failed = counts.failed
        cancelled = counts.cancelled
        active = counts.active
        parked = counts.parked
        delayed = counts.delayed
        ready = max(0, counts.total - counts.done - counts.failed - counts.cancelled - counts.active - counts.parked - counts.delayed)
    }
}
