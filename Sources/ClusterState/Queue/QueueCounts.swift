/// A queue's depths and totals.
package struct QueueCounts: Sendable, Equatable {
    /// Waiting in line, or for their host to have room.
    package var ready = 0
    package var active = 0

    /// Waiting for another job's fetch of the same URL.
    package var parked = 0
    package var delayed = 0
    package var dead = 0

    package var enqueued = 0
    package var done = 0
    package var fetched = 0
    package var revalidated = 0
    package var cached = 0
    package var failed = 0
    package var cancelled = 0
    package var retried = 0
    package var crashed = 0
    package var fenced = 0
    package var doubleFetches = 0
    package var bytes = 0
    package var isPaused = false

    package init() {}

    /// Nothing waits and nothing is in flight.
    package var isEmpty: Bool { ready + active + parked + delayed == 0 }
}
