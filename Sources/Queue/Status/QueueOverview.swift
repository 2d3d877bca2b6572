internal import GannetBase

/// A queue at one moment, with its last minutes.
package struct QueueOverview: Sendable, Equatable {
    /// Queue time in milliseconds, like all other times here.
    package let now: Int
    package let counts: QueueCounts
    package internal(set) var failures = FailureCounts()

    /// When the oldest waiting job was enqueued, as far as the first jobs of the lists tell.
    package let oldestReady: Int?

    /// The samples of the last quarter of an hour, the oldest first. There are none from a time without workers.
    package let samples: [QueueSample]

    /// The workers that sent a heartbeat lately, the latest heartbeat first.
    package let workers: [WorkerStatus]

    /// At most eight other queues of the namespace that had workers lately, the latest heartbeat first.
    package internal(set) var others: [OtherQueue] = []

    /// Jobs that no worker can claim now.
    package internal(set) var waits = QueueWaits()

    /// The busiest hosts, as Redis knows them now. A worker's own count of its requests is as old as its heartbeat.
    package internal(set) var standings: [String: HostStanding] = [:]

    /// The partitions of a namespace that has several, and their servers; `nil` for a namespace with one.
    package var partitions: PartitionOverview?

    /// The batches that have to be exported before a worker goes on.
    package var holding: [HoldingBatch] = []

    /// The newest batches, as many as were asked for. They were read in the same pass as the counts.
    package var batches: [Batch] = []
}

extension QueueOverview {
    /// How long the oldest waiting job has waited; `nil` when no job waits.
    package var oldestAge: Duration? { oldestReady.map { .milliseconds(max(0, now - $0)) } }

    package var history: QueueHistory { QueueHistory(self) }

    /// The totals of this moment.
    var present: QueueSample {
        QueueSample(time: now, done: counts.done, failed: counts.failed, bytes: counts.bytes, open: counts.open)
    }

    /// Nothing was ever put into the queue, as far as Redis knows, and no worker was heard of lately.
    package var isUnknown: Bool { counts.enqueued == 0 && workers.isEmpty && !isPartial }

    /// A server of a cluster is away, so the sums are those of the other partitions.
    package var isPartial: Bool { partitions?.away.isEmpty == false }

    /// The rate of about the last minute; `nil` while there are too few samples.
    package var rate: QueueRate? { history.rate }

    /// How long until all jobs will have ended, at the present speed and without new jobs; `nil` when there is no estimate.
    package var remaining: Duration? {
        isPartial || counts.open > 0 && (counts.isPaused || !hasLiveWorker) ? nil : history.remaining(open: counts.open)
    }

    /// The workers that sent a heartbeat in the last seconds.
    package var liveWorkers: [WorkerStatus] { workers.filter { $0.state != .silent } }
    package var hasLiveWorker: Bool { !liveWorkers.isEmpty }

    /// The hosts that hold jobs back, and then those of the living workers, the busiest first.
    package var hosts: [HostStatus] {
        HostStatus.merged(liveWorkers.compactMap(\.record), standings, waits.silent, at: now)
    }
}

/// Another queue of the same namespace.
package struct OtherQueue: Sendable, Equatable {
    package let name: String

    /// Jobs that have not ended.
    package let open: Int

    /// How many workers sent a heartbeat in the last seconds. A hundred stands for more, too.
    package let workers: Int
}

/// The totals of a queue at one moment.
package struct QueueSample: Sendable, Equatable {
    package let time: Int
    package let done: Int
    package let failed: Int
    package let bytes: Int

    /// Jobs that had not ended.
    package let open: Int

    package init(time: Int, done: Int, failed: Int, bytes: Int, open: Int) {
        self.time = time
        self.done = done
        self.failed = failed
        self.bytes = bytes
        self.open = open
    }

    private static let size = 30

    /// A quarter of an hour.
    private static let most = 180

    /// Appends the sample to packed ones. The oldest go when there are too many, and so does the part of one at the end.
    package func appended(to bytes: [UInt8]) -> [UInt8] {
        Array(
            (bytes.prefix(bytes.count / Self.size * Self.size) + Self.bytes(of: [time, done, failed, self.bytes, open])).suffix(
                Self.most * Self.size))
    }

    static func bytes(of numbers: [Int]) -> [UInt8] { numbers.reduce(into: []) { $0.append(number: $1, count: 6) } }

    /// Reads packed samples, the oldest first.
    package static func read(_ bytes: [UInt8]) -> [QueueSample] {
        var reader = ByteReader(bytes)
        return (0..<bytes.count / size).compactMap { _ in
            guard let time = reader.number(6), let done = reader.number(6), let failed = reader.number(6), let count = reader.number(6),
                let open = reader.number(6)
            else { return nil }
            return QueueSample(time: time, done: done, failed: failed, bytes: count, open: open)
        }
    }
}

/// How many jobs no worker can claim now, by reason.
package struct QueueWaits: Sendable, Equatable {
    /// Ready jobs whose hosts pause or have no room, and the number of those hosts.
    package var held = 0
    package var hosts = 0

    /// Jobs that wait for the time of their first or next attempt.
    package var delayed = 0

    /// Jobs whose URL another fetch has locked, and when the last of these locks ends at the latest, in queue time, as far as they were looked at.
    package var parked = 0
    package var parkedUntil: Int?

    /// Some of the URLs that wait for their next attempt, the first that is due first. Each has the name of its host, how its last attempt
    /// failed, and the time until the next. `since` is the time for which it has been put off without a charge.
    package var retries: [WaitingHost] = []
    package static let mostRetries = 3

    /// Some of the hosts that do not answer or rest, the one with the most failures first.
    package private(set) var silent: [WaitingHost] = []
    package static let mostSilent = 8

    /// Some of the hosts that want time between two requests, the one whose jobs take the longest first.
    package private(set) var paced: [WaitingHost] = []

    /// How many hosts were found that do not answer or rest, and for how long they have done so at least.
    private var found = 0
    private var leastSilence: Duration?
    private var leastRest: Duration?

    /// How long the workers wait for these hosts, as far as it is known.
    package var patience: WaitPatience?

    /// The time within which all of these hosts answer or are given up; `nil` where nobody knows it, or where one may be waited for for ever.
    package var givenUpWithin: Duration? {
        // The host that waits the longest may be among those that were not looked at.
        guard let patience, held == 0 || hosts <= found else { return nil }
        let ends = [leastSilence.map { patience.left(afterSilence: $0) }, leastRest.map { patience.left(afterRests: $0) }].compactMap(
            \.self)
        return ends.contains(nil) ? nil : ends.compactMap(\.self).max()
    }

    /// The time within which a host answers or is given up, if it is not given up already; `nil` where that is not known.
    package func givenUpWithin(_ host: WaitingHost) -> Duration? { patience?.left(of: host) }

    package var total: Int { held + delayed + parked }

    /// The same where only so many jobs are open: a look is some moments old, and its jobs may have ended since.
    package func within(_ open: Int) -> QueueWaits {
        var waits = self
        waits.delayed = min(delayed, max(0, open))
        waits.parked = min(parked, max(0, open) - waits.delayed)
        waits.held = min(held, max(0, open) - waits.delayed - waits.parked)
        for index in paced.indices { waits.paced[index].jobs = paced[index].jobs.map { min($0, waits.held) } }
        waits.paced.removeAll { $0.time == .zero }
        return waits
    }

    package init(held: Int = 0, hosts: Int = 0, delayed: Int = 0, silent: [WaitingHost] = []) {
        self.held = held
        self.hosts = hosts
        self.delayed = max(0, delayed)
        add(silent)
    }

    /// Adds another partition's part of the queue.
    mutating func add(_ other: QueueWaits) {
        held += other.held
        hosts += other.hosts
        delayed += other.delayed
        parked += other.parked
        parkedUntil = [parkedUntil, other.parkedUntil].compactMap(\.self).max()
        retries = Array((retries + other.retries).sorted { $0.rest < $1.rest }.prefix(Self.mostRetries))
        list(other.silent + other.paced)
        found += other.found
        leastSilence = [leastSilence, other.leastSilence].compactMap(\.self).min()
        leastRest = [leastRest, other.leastRest].compactMap(\.self).min()
    }

    mutating func add(_ hosts: [WaitingHost]) {
        list(hosts)
        found += hosts.count
        for host in hosts where !host.isGivenUp && host.state != .paced {
            let since = host.since ?? .zero
            if host.failures > 0 { leastSilence = min(leastSilence ?? since, since) } else { leastRest = min(leastRest ?? since, since) }
        }
    }

    private mutating func list(_ hosts: [WaitingHost]) {
        let (one, other) = (
            (silent + hosts).filter { $0.state != .paced }, (paced + hosts).filter { $0.state == .paced && $0.time > .zero }
        )
        silent = Array(one.sorted { ($0.failures, $1.name) > ($1.failures, $0.name) }.prefix(Self.mostSilent))
        paced = Array(other.sorted { ($0.time, $1.name) > ($1.time, $0.name) }.prefix(Self.mostSilent))
    }
}

/// How many jobs of a queue were accepted, how many of them have ended, and how many no worker can claim now.
package struct QueueProgress: Sendable, Equatable {
    package let accepted: Int
    package let ended: Int
    package var waits: QueueWaits
}
