internal import GannetBase

/// A living worker's report about itself, for people who watch the queue. No decision about a job depends on this report.
package struct WorkerRecord: Sendable, Equatable {
    /// The machine that the worker runs on, and its process there.
    package var machine: String
    package var processID: Int
    package var version: String

    /// How many requests the worker makes at once at most, and how many are in flight.
    package var concurrency: Int
    package var active: Int

    /// Why it makes no more at once; `nil` where it is not known.
    package var bound: PlacesBound?

    /// The worker takes no more jobs.
    package var isStopping: Bool

    /// Bodies or outcomes of the worker wait for room in Redis.
    package var isFull: Bool

    /// They wait for somebody to export batches.
    package var isHeld: Bool

    /// The time over which the finished requests of `hosts` are counted.
    package var interval: Duration

    /// The hosts that keep the worker busiest, at most ``mostHosts`` of them.
    package var hosts: [HostLoad]

    /// How many requests the worker allows a host without a rule, with all other workers together.
    package var hostLimit: Int

    /// For how long the worker had run at the heartbeat.
    package var age: Duration

    /// The requests that ended within `interval`, at all hosts.
    package var ended: Int

    /// The partitions in which the worker holds jobs, or has an exchange under way.
    package var partitions: [Int]

    /// How long it waits for hosts.
    package var patience: WaitPatience

    /// How long its jobs stay its own when it says nothing more.
    package var lease: Duration

    package static let mostHosts = 8
    private static let version = 1

    package init(
        machine: String, processID: Int, version: String, concurrency: Int, bound: PlacesBound? = nil, active: Int,
        isStopping: Bool, isFull: Bool = false, isHeld: Bool = false,
        interval: Duration, hosts: [HostLoad], hostLimit: Int, age: Duration, ended: Int, partitions: [Int], patience: WaitPatience,
        lease: Duration
    ) {
        self.machine = machine
        self.processID = processID
        self.version = version
        self.concurrency = concurrency
        self.bound = bound
        self.active = active
        self.isStopping = isStopping
        self.isFull = isFull
        self.isHeld = isHeld
        self.interval = interval
        self.hosts = hosts
        self.hostLimit = hostLimit
        self.age = age
        self.ended = ended
        self.partitions = partitions
        self.patience = patience
        self.lease = lease
    }

    /// One version byte, then numbers, and texts with their lengths. Long texts are cut, because a heartbeat has to stay small.
    package var bytes: [UInt8] {
        let flags = (isStopping ? 1 : 0) + (isFull ? 2 : 0) + (isHeld ? 4 : 0)
        var bytes = [UInt8(Self.version), UInt8(flags + 8 * (bound?.code ?? 0))]
        bytes.append(number: processID, count: 4)
        bytes.append(number: concurrency, count: 2)
        bytes.append(number: active, count: 2)
        bytes.append(number: interval.wholeMilliseconds, count: 4)
        bytes.append(text: machine)
        bytes.append(text: version)
        let listed = hosts.prefix(Self.mostHosts)
        bytes.append(number: listed.count, count: 1)
        for host in listed { bytes += host.bytes }
        bytes.append(number: hostLimit, count: 3)
        bytes.append(number: age.wholeMilliseconds / 1000, count: 4)
        bytes.append(number: ended, count: 4)
        let inPartitions = Array(partitions.prefix(Partition.most))
        for number in [inPartitions.count] + inPartitions { bytes.append(number: number, count: 1) }
        for time in [patience.silence, patience.rests, lease] { bytes.append(number: time.wholeMilliseconds, count: 6) }
        return bytes
    }

    /// `nil` for a record that cannot be read.
    package init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.number(1) == Self.version, let flags = reader.number(1), let processID = reader.number(4),
            let concurrency = reader.number(2), let active = reader.number(2), let interval = reader.number(4),
            let machine = reader.text(), let version = reader.text(), let count = reader.number(1)
        else { return nil }
        var hosts: [HostLoad] = []
        for _ in 0..<min(count, Self.mostHosts) {
            guard let host = HostLoad(&reader) else { return nil }
            hosts.append(host)
        }
        guard let hostLimit = reader.number(3), let age = reader.number(4), let ended = reader.number(4), let places = reader.number(1)
        else { return nil }
        let partitions = (0..<places).compactMap { _ in reader.number(1) }
        guard partitions.count == places, let silence = reader.number(6), let rests = reader.number(6), let lease = reader.number(6)
        else { return nil }
        self.init(
            machine: machine, processID: processID, version: version, concurrency: concurrency,
            bound: PlacesBound(code: flags >> 3), active: active, isStopping: flags & 1 == 1, isFull: flags & 2 == 2,
            isHeld: flags & 4 == 4, interval: .milliseconds(interval), hosts: hosts,
            hostLimit: hostLimit, age: .seconds(age), ended: ended, partitions: partitions,
            patience: WaitPatience(silence: .milliseconds(silence), rests: .milliseconds(rests)), lease: .milliseconds(lease))
    }
}

/// Why a worker makes no more requests at once than it does.
package enum PlacesBound: String, Sendable, CaseIterable {
    /// The number was given.
    case given
    /// It is the most that a worker finds by itself.
    case most
    /// It has no more jobs that can run now.
    case jobs
    /// It is about to make more.
    case growing
    /// It may not have more files open.
    case files
    /// The machine, or the process' control group, has too little memory.
    case memory
    /// Its threads do not keep up.
    case processor
    /// Many names get no answer from the name servers.
    case names
    /// Many hosts cannot be connected to, perhaps because the line has too many connections.
    case network

    /// In a record, where zero stands for an unknown reason.
    fileprivate var code: Int { (Self.allCases.firstIndex(of: self) ?? -1) + 1 }

    fileprivate init?(code: Int) {
        guard (1...Self.allCases.count).contains(code) else { return nil }
        self = Self.allCases[code - 1]
    }

    /// People may want to do something about it.
    package var isTrouble: Bool {
        switch self {
        case .given, .most, .jobs, .growing: false
        case .files, .memory, .processor, .names, .network: true
        }
    }
}

extension WorkerRecord {
    /// The requests of a shorter time are no rate.
    private static let shortestInterval = Duration.seconds(3)

    /// Requests that end in a second; `nil` where it is not known, as of a worker that has just begun.
    package var endedPerSecond: Double? {
        guard interval >= Self.shortestInterval else { return nil }
        return Double(ended) / (interval / .seconds(1))
    }
}

/// One host, as a worker sees it.
package struct HostLoad: Sendable, Equatable {
    package var name: String

    /// How many requests are in flight, and how long the oldest of them has taken so far.
    package var running: Int
    package var longest: Duration

    /// Recently finished requests: how many, how many of them failed, and their average duration.
    package var finished: Int
    package var failed: Int
    package var average: Duration

    package init(
        name: String, running: Int = 0, longest: Duration = .zero, finished: Int = 0, failed: Int = 0, average: Duration = .zero
    ) {
        self.name = name
        self.running = running
        self.longest = longest
        self.finished = finished
        self.failed = failed
        self.average = average
    }

    /// How long a request to the host takes, as far as the worker can tell by now.
    package var slowness: Duration { max(longest, average) }

    fileprivate var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(text: name)
        bytes.append(number: running, count: 2)
        bytes.append(number: longest.wholeMilliseconds, count: 4)
        bytes.append(number: finished, count: 4)
        bytes.append(number: failed, count: 4)
        bytes.append(number: average.wholeMilliseconds, count: 4)
        return bytes
    }

    fileprivate init?(_ reader: inout ByteReader) {
        guard let name = reader.text(), let running = reader.number(2), let longest = reader.number(4), let finished = reader.number(4),
            let failed = reader.number(4), let average = reader.number(4)
        else { return nil }
        self.init(
            name: name, running: running, longest: .milliseconds(longest), finished: finished, failed: failed,
            average: .milliseconds(average))
    }
}

/// A worker at the moment of a look, as its last heartbeat shows it.
package struct WorkerStatus: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case working
        /// The worker has no request in flight.
        case idle
        /// The worker takes no more jobs.
        case stopping
        /// The worker waits for room in Redis.
        case full
        /// The worker takes no more jobs until somebody has exported batches.
        case held
        /// No heartbeat came for a while: the worker died, or cannot reach Redis.
        case silent
    }

    package let id: String

    /// How long ago the last heartbeat came.
    package let heartbeat: Duration

    /// `nil` where the record cannot be read.
    package let record: WorkerRecord?

    /// Somebody has asked the worker to drain.
    package let isAskedToDrain: Bool

    /// The time of three heartbeats.
    private static let silence = Duration.seconds(15)

    package init(id: String, heartbeat: Duration, record: WorkerRecord?, isAskedToDrain: Bool = false) {
        self.id = id
        self.heartbeat = heartbeat
        self.record = record
        self.isAskedToDrain = isAskedToDrain
    }

    /// The worker takes no more jobs, or will take none from its next heartbeat on.
    package var isDraining: Bool { isAskedToDrain || record?.isStopping == true }

    /// For how long the worker has run; `nil` where it is not known. A silent worker is taken to run.
    package var age: Duration? { record.map { $0.age + heartbeat } }

    /// The time within which a worker that was killed loses its jobs to others; `nil` where it had none, or has lost them. It may have extended
    /// its lease until the next heartbeat was due.
    package var jobsBack: Duration? {
        guard let record, record.active > 0 else { return nil }
        let left = record.lease + Self.silence / 3 - heartbeat
        return left > .zero ? left : nil
    }

    package var state: State? {
        if heartbeat > Self.silence { return .silent }
        return record.map { $0.isStopping ? .stopping : $0.isHeld ? .held : $0.isFull ? .full : $0.active > 0 ? .working : .idle }
    }
}

extension [WorkerStatus] {
    /// In the order of their machines.
    package var byMachine: [WorkerStatus] { sorted { ($0.record?.machine ?? "", $0.id) < ($1.record?.machine ?? "", $1.id) } }
}

extension ByteReader {
    fileprivate mutating func text() -> String? {
        number(1).flatMap { bytes($0) }.map { String(decoding: $0, as: UTF8.self) }
    }
}

extension [UInt8] {
    fileprivate mutating func append(text: String) {
        let cut = text.utf8.prefix(255)
        append(number: cut.count, count: 1)
        self += cut
    }
}
