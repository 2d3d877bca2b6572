internal import ClusterState
internal import GannetBasics
internal import HTTPEngine

/// Counts a worker's requests at each host, and times its calls, for screens and metrics.
package final class WorkerActivity: Sendable {
    private let tally = Mutex(HostTally<LockToken>(at: .now))
    private let times = Mutex(WorkerTimings())
    private let isFull = Mutex(false)
    private let isStoreFull = Mutex(false)

    package init() {}

    func began(_ token: LockToken, host: String) {
        tally.withLock { $0.began(token, host: host, at: .now) }
    }

    /// A redirect has led the request to another host.
    func moved(_ token: LockToken, to host: String) {
        tally.withLock {
            $0.ended(token, .good, at: .now)
            $0.began(token, host: host, at: .now)
        }
    }

    /// - Parameters:
    ///   - error: The error of a request that failed.
    ///   - time: The time of the whole request, including its redirects to other hosts.
    func ended(_ token: LockToken, _ error: FetchError?, after time: Duration) {
        let end: HostTally<LockToken>.End = error.map { $0.kind == .cancelled ? .calledOff : .bad } ?? .good
        tally.withLock { $0.ended(token, end, at: .now) }
        switch end {
        case .good: times.withLock { $0.fetches.note(time) }
        case .bad: times.withLock { $0.failedFetches.note(time) }
        case .calledOff: break
        }
    }

    func exchanged(after time: Duration) {
        times.withLock { $0.exchanges.note(time) }
        isFull.withLock { $0 = false }
    }

    func exchangeFailed(isRedisFull: Bool) { isFull.withLock { $0 = isRedisFull } }

    func noteStore(isFull: Bool) { isStoreFull.withLock { $0 = isFull } }

    /// Redis refuses outcomes or bodies, because it is full.
    package var isRedisFull: Bool { isFull.withLock { $0 } || isStoreFull.withLock { $0 } }

    func settled(after time: Duration) { times.withLock { $0.settlements.note(time) } }

    /// Requests in flight, and those that ended in the last seconds.
    package var snapshot: ActivitySnapshot { tally.withLock { $0.snapshot(at: .now) } }

    package var timings: WorkerTimings { times.withLock { $0 } }

    /// Requests in flight now.
    package var inFlight: Int { tally.withLock { $0.inFlight } }
}
