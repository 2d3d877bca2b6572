/// What a worker says of itself while it lives: for onlookers, and never for a decision about a job.
package struct WorkerRecord: Sendable, Equatable {
    /// The machine it runs on, and its process there.
    package var machine: String
    package var processID: Int
    package var version: String

    /// Requests it makes at once at most, and those in flight.
    package var concurrency: Int
    package var active: Int

    /// It takes no more jobs.
    package var isStopping: Bool

    /// Over which time the hosts' finished requests are counted.
    package var interval: Duration

    /// The hosts it has most to do with, at most ``mostHosts`` of them.
    package var hosts: [HostLoad]

    package static let mostHosts = 8
    private static let version = 1

    package init(
        machine: String, processID: Int, version: String, concurrency: Int, active: Int, isStopping: Bool, interval: Duration,
        hosts: [HostLoad]
    ) {
        self.machine = machine
        self.processID = processID
        self.version = version
        self.concurrency = concurrency
        self.active = active
        self.isStopping = isStopping
        self.interval = interval
        self.hosts = hosts
    }

    /// One version byte, then numbers and counted texts: what does not fit is cut, since a heartbeat has to stay small.
    var bytes: [UInt8] {
        var bytes = [UInt8(Self.version), isStopping ? 1 : 0]
        bytes.append(number: processID, count: 4)
        bytes.append(number: concurrency, count: 2)
        bytes.append(number: active, count: 2)
        bytes.append(number: interval.wholeMilliseconds, count: 4)
        bytes.append(text: machine)
        bytes.append(text: version)
        let listed = hosts.prefix(Self.mostHosts)
        bytes.append(number: listed.count, count: 1)
        for host in listed { bytes += host.bytes }
        return bytes
    }

    /// `nil` for what a newer version wrote.
    init?(_ bytes: [UInt8]) {
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
        self.init(
            machine: machine, processID: processID, version: version, concurrency: concurrency, active: active,
            isStopping: flags & 1 == 1, interval: .milliseconds(interval), hosts: hosts)
    }
}

/// What a worker has to do with one host.
package struct HostLoad: Sendable, Equatable {
    package var host: String

    /// Requests in flight, and for how long the oldest of them.
    package var running: Int
    package var longest: Duration

    /// Requests that have ended since the last heartbeat, how many of them badly, and how long they took on average.
    package var finished: Int
    package var failed: Int
    package var average: Duration

    package init(host: String, running: Int, longest: Duration, finished: Int, failed: Int, average: Duration) {
        self.host = host
        self.running = running
        self.longest = longest
        self.finished = finished
        self.failed = failed
        self.average = average
    }

    fileprivate var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(text: host)
        bytes.append(number: running, count: 2)
        bytes.append(number: longest.wholeMilliseconds, count: 4)
        bytes.append(number: finished, count: 4)
        bytes.append(number: failed, count: 4)
        bytes.append(number: average.wholeMilliseconds, count: 4)
        return bytes
    }

    fileprivate init?(_ reader: inout ByteReader) {
        guard let host = reader.text(), let running = reader.number(2), let longest = reader.number(4), let finished = reader.number(4),
            let failed = reader.number(4), let average = reader.number(4)
        else { return nil }
        self.init(
            host: host, running: running, longest: .milliseconds(longest), finished: finished, failed: failed,
            average: .milliseconds(average))
    }
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
