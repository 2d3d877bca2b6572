/// What is asked for with a batch; it holds for all its jobs.
package struct BatchOptions: Sendable, Equatable {
    package enum Priority: Int, Sendable, CaseIterable {
        case high = 1
        case normal, low
    }

    package var priority = Priority.normal

    /// Only a fetch that began after a job was enqueued will do.
    package var refresh = false

    /// How old a page may be; without it, as long as the page itself says.
    package var maximumAge: Duration?

    /// The bodies have to reach the worker: a job whose page is there is handed out all the same.
    package var deliversBodies = false

    /// What its requests carry; its jobs' ids are made with them.
    package var headers = RequestHeaders.none

    /// The trace it belongs to. What its URLs are has nothing to do with it.
    package var trace: TraceContext?

    package init() {}
}

/// How far a batch has been accepted.
package struct BatchProgress: Sendable, Equatable {
    package enum State: String, Sendable {
        case open, closed, cancelled
    }

    package let number: Int

    /// What it is made from, as was said when it began.
    package let source: String

    /// The position in the producer's input up to which every line has been dealt with.
    package let offset: Int
    package let total: Int
    package let state: State

    /// What its requests carry; `nil` where another version wrote that.
    package let headers: RequestHeaders?
}

/// What accepting a chunk came to.
package struct EnqueueAnswer: Sendable, Equatable {
    package let offset: Int
    package let total: Int

    /// Jobs of the queue that have not ended: for producers that do not want to run ahead.
    package let open: Int
}

/// What has become of a batch's jobs.
package struct BatchCounts: Sendable, Equatable {
    package let state: BatchProgress.State
    package let total: Int
    package let done: Int
    package let failed: Int
    package let cancelled: Int
    package let active: Int
    package let parked: Int
    package let delayed: Int

    /// Everything it was made from is accepted, and has ended.
    package var isComplete: Bool { state != .open && total == done + failed + cancelled }
}
