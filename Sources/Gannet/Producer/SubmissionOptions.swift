internal import ClusterState

/// What is asked for with a batch; it holds for all its URLs, as it was when the batch was begun.
package struct SubmissionOptions: Sendable, Equatable {
    package enum Priority: String, Sendable, CaseIterable {
        case high, normal, low
    }

    package var priority = Priority.normal

    /// Nobody fetches the URLs before; told from when each is accepted.
    package var delay = Duration.zero

    /// How old an outcome may be that is there already; without it, as long as it says itself.
    package var maximumAge: Duration?

    /// Only a fetch that begins after a URL is accepted will do.
    package var refresh = false

    /// What the requests carry besides what every request has.
    package var headers = ExtraHeaders.none

    /// The trace it is a part of. Unlike headers it makes no other request of a URL.
    package var trace: TraceParent?

    package init() {}
}

extension SubmissionOptions {
    var ofBatch: BatchOptions {
        var options = BatchOptions.fromProducer
        options.priority = priority.ofBatch
        options.maximumAge = maximumAge
        options.refresh = refresh
        options.headers = headers.record
        options.trace = trace?.context
        return options
    }
}

extension SubmissionOptions.Priority {
    fileprivate var ofBatch: BatchOptions.Priority {
        switch self {
        case .high: .high
        case .normal: .normal
        case .low: .low
        }
    }

    init(_ priority: BatchOptions.Priority) {
        self =
            switch priority {
            case .high: .high
            case .normal: .normal
            case .low: .low
            }
    }
}
