internal import ClusterState
internal import HTTPEngine
internal import Threads

/// What a worker does at each host, for those who look on while it works.
package final class WorkerActivity: Sendable {
    private let tally = Mutex(HostTally<FlightToken>(at: .now))

    package init() {}

    func began(_ token: FlightToken, host: String) {
        tally.withLock { $0.began(token, host: host, at: .now) }
    }

    /// A redirect has led the request to another host.
    func moved(_ token: FlightToken, to host: String) {
        tally.withLock {
            $0.ended(token, .good, at: .now)
            $0.began(token, host: host, at: .now)
        }
    }

    /// - Parameter error: What went wrong, if anything.
    func ended(_ token: FlightToken, _ error: FetchError?) {
        let end: HostTally<FlightToken>.End = error.map { $0.kind == .cancelled ? .calledOff : .bad } ?? .good
        tally.withLock { $0.ended(token, end, at: .now) }
    }

    /// Requests in flight, and those that ended in the last seconds.
    package var snapshot: ActivitySnapshot { tally.withLock { $0.snapshot(at: .now) } }
}
