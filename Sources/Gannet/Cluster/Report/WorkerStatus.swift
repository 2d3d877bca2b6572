internal import ClusterState

/// A worker as an onlooker sees it. What a worker of a newer version says of itself is `nil`.
package struct WorkerStatus: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case working
        /// It has nothing in flight.
        case idle
        /// It takes no more jobs.
        case stopping
        /// Nothing was heard of it for a while: it died, or cannot reach Redis.
        case silent
    }

    package let id: String
    /// The machine it runs on.
    package let host: String?
    package let processID: Int?
    package let version: String?
    package let concurrency: Int?
    package let active: Int?
    /// Since it was heard last.
    package let heartbeat: Duration
    package let state: State?

    /// Three heartbeats.
    private static let silence = Duration.seconds(15)

    init(_ beat: WorkerBeat, now: Int) {
        id = beat.worker
        let record = beat.record
        host = record?.machine
        processID = record?.processID
        version = record?.version
        concurrency = record?.concurrency
        active = record?.active
        heartbeat = .milliseconds(max(0, now - beat.time))
        state =
            if heartbeat > Self.silence { .silent } else { record.map { $0.isStopping ? .stopping : $0.active > 0 ? .working : .idle } }
    }
}
