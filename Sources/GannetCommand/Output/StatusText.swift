import GannetQueue

/// A queue's status for people: names on the left, values on the right, then workers and hosts in tables.
struct StatusText: Sendable {
    let status: StatusReport
    let style: TerminalStyle
    /// Of the terminal, where there is one: long values break between words.
    var columns: Int?

    /// A fleet's long tail is for scripts.
    private static let mostWorkers = 20
    private static let mostHosts = 8
    private static let mostClasses = 4

    var lines: [String] {
        let rows = rows
        let width = rows.map(\.name.count).max() ?? 0
        var lines = rows.flatMap { row in
            let line = row.name + String(repeating: " ", count: width + 2 - row.name.count) + row.value
            return line.wrapped(to: columns ?? .max, indent: width + 2).split(separator: "\n").map(String.init)
        }
        let tables = StatusTables(report: status.report, style: style)
        for table in [tables.workers(Self.mostWorkers), tables.hosts(Self.mostHosts), tables.others()] where !table.isEmpty {
            lines.append("")
            lines += table.map { $0.written(style) }
        }
        return lines
    }

    var text: String { lines.joined(separator: "\n") }

    /// Stands behind a queue's name.
    static func pause(of queue: QueueCounts) -> String {
        if queue.isPaused { return " (paused)" }
        return queue.paused > 0 ? " (paused in \(queue.paused) of \(queue.partitions) partitions)" : ""
    }

    private var rows: [(name: String, value: String)] {
        let (queue, report, server) = (status.queue, status.report, status.server)
        let oldest = report.oldestAge.map { " (the oldest for \(Amounts.roughTime($0)))" } ?? ""
        let kinds = [
            "\(queue.fetched) fetched", queue.revalidated > 0 ? "\(queue.revalidated) unchanged" : nil, "\(queue.cached) there already",
        ].compactMap(\.self).joined(separator: ", ")
        let speed = report.rate.map { "\(Amounts.rate($0.donePerSecond))/s, \(Amounts.bytes($0.bytesPerSecond))/s in the last minute" }
        let dead = queue.dead == queue.failed ? "all" : "\(queue.dead)"
        var rows = [
            ("queue", status.name.printable + Self.pause(of: queue)),
            ("progress", progress),
            ("ready", "\(queue.ready)\(oldest)"),
            ("active", "\(queue.active)"),
            ("parked", "\(queue.parked)"),
            ("delayed", "\(queue.delayed)"),
            ("done", "\(queue.done) (\(kinds); \(Amounts.bytes(queue.bytes)))"),
            (
                "failed",
                "\(queue.failed)" + notPermitted + classes
                    + (queue.dead > 0 ? " (\(dead) kept as dead jobs: 'gannet jobs list --state dead')" : "")
            ),
        ]
        for count in QueueCount.all {
            guard let label = count.label, !count.isRare || queue[keyPath: count.path] > 0 else { continue }
            rows.append((label, "\(queue[keyPath: count.path])"))
        }
        let memory = server.usedMemory.map { Amounts.bytes($0) + " used" } ?? "unknown memory"
        let limit = server.memoryLimit.flatMap { $0 == 0 ? nil : $0 }.map { " of \(Amounts.bytes($0))" } ?? ""
        rows += [
            ("speed", speed ?? style.unknown),
            ("left", status.unknown == nil ? status.left?.value ?? "nothing" : style.unknown),
            ("redis", "\(server.version ?? "unknown version"), \(memory)\(limit), answers in \(Amounts.milliseconds(server.ping))"),
        ]
        if let partitions = report.partitions {
            let servers = partitions.primaries > 0 ? " on \(Amounts.count(partitions.primaries, "primary", "primaries"))" : ""
            rows.append(("partitions", "\(partitions.count)\(servers)"))
            for away in partitions.away {
                let numbers = away.partitions.map(String.init).joined(separator: ", ")
                rows.append(("away", "partition\(away.partitions.count == 1 ? "" : "s") \(numbers), not counted here: \(away.sentence)"))
            }
        }
        return rows
    }

    private var notPermitted: String {
        let number = status.report.failures.notPermitted
        return number > 0 ? " (\(number) not permitted)" : ""
    }

    /// The most frequent classes of the other failures.
    private var classes: String {
        let known = status.report.failures.sorted.filter { !$0.errorClass.isEmpty && $0.errorClass != FailureCounts.disallowed }
        guard let first = known.first else { return "" }
        if known.count == 1, first.count == status.queue.failed { return ", all \(ClassCounts.shown(first.errorClass))" }
        let shown = known.prefix(Self.mostClasses).map { "\(ClassCounts.shown($0.errorClass)) \($0.count)" }
        return ": " + shown.joined(separator: ", ") + (known.count > shown.count ? " and others" : "")
    }

    private var progress: String {
        if let partial = status.partial { return partial }
        if let unknown = status.unknown { return unknown.sentence }
        if status.queue.enqueued == 0 { return "nothing was put into this queue yet" }
        if status.queue.open == 0 { return "finished" }
        let work = status.work
        let batches = work.batches > 1 ? " in \(work.batches) batches" : ""
        return "\(Int(work.share * 100))%: \(work.ended) of \(work.total) ended\(batches)"
    }
}

/// The workers and the hosts of a queue in rows; no lines where there are none.
struct StatusTables: Sendable {
    let report: QueueOverview
    let style: TerminalStyle

    /// - Parameter most: Workers; the rest is a number.
    func workers(_ most: Int) -> [StyledText] {
        guard !report.workers.isEmpty, most > 0 else { return [] }
        var table = TextTable([
            ("WORKER", .left), ("ON", .left), ("PID", .right), ("VERSION", .left), ("JOBS", .right), ("PLACES", .right), ("HEARD", .right),
            ("STATE", .left),
        ])
        for worker in report.sortedWorkers.prefix(most) {
            let record = worker.record
            table.add([
                StyledText(worker.id), StyledText(known(record?.machine)), StyledText(known(record.map { String($0.processID) })),
                StyledText(known(record?.version)), StyledText(known(record.map { String($0.active) })),
                StyledText(known(record?.places)),
                StyledText("\(Amounts.roughTime(worker.heartbeat(at: report.now))) ago"),
                state(worker),
            ])
        }
        return table.lines(mostColumns: 24, style) + rest(report.workers.count - most)
    }

    /// - Parameter most: Hosts; the rest is not worth a number, since workers tell only of some.
    func hosts(_ most: Int) -> [StyledText] {
        let hosts = report.hosts
        guard !hosts.isEmpty, most > 0 else { return [] }
        var table = TextTable([
            ("HOSTS", .left), ("IN FLIGHT", .right), ("ENDED", .right), ("FAILED", .right), ("AVERAGE", .right),
            ("NOW FOR", .right), ("RESTS", .right),
        ])
        for host in hosts.prefix(most) {
            table.add([
                StyledText(host.name), StyledText("\(host.running)" + (host.limit.map { "/\($0)" } ?? "")),
                StyledText("\(Amounts.rate(host.endedPerSecond))/s"),
                StyledText("\(Int((host.failureShare * 100).rounded()))%", host.failureShare > 0 ? .red : nil),
                StyledText(known(host.average.map(Amounts.time))), StyledText(known(host.running > 0 ? Amounts.time(host.longest) : nil)),
                StyledText(host.isGivenUp ? "given up" : known(host.rest.map { Amounts.time($0) }), .red),
            ])
        }
        return table.lines(mostColumns: 36, style)
    }

    /// The queues beside this one.
    func others() -> [StyledText] {
        guard !report.others.isEmpty else { return [] }
        var table = TextTable([("OTHER QUEUES", .left), ("NOT ENDED", .right), ("WORKERS", .right)])
        for queue in report.others {
            table.add([StyledText(queue.name), StyledText("\(queue.open)"), StyledText("\(queue.workers)")])
        }
        return table.lines(mostColumns: 64, style)
    }

    private func known(_ text: String?) -> String { text.map { $0.isEmpty ? style.unknown : $0 } ?? style.unknown }

    private func state(_ worker: WorkerStatus) -> StyledText {
        let word = known(worker.stateText(at: report.now))
        return switch worker.state(at: report.now) {
        case .full, .held, .silent: StyledText(word, .red)
        case _ where worker.isDraining: StyledText(word, .yellow)
        case .working: StyledText(word, .green)
        default: StyledText(word)
        }
    }

    private func rest(_ count: Int) -> [StyledText] {
        count > 0 ? [StyledText("\(style.ellipsis) and \(count) more", .faint)] : []
    }
}

extension WorkerStatus {
    /// The state in few words, the same in all listings; `nil` where it is not known.
    func stateText(at now: Int) -> String? {
        switch state(at: now) {
        case .silent:
            "silent for \(Amounts.roughTime(heartbeat(at: now)))"
                + (jobsBack(at: now).map { ", its jobs come back in \(Amounts.roughTime($0)) at the latest" } ?? "")
        case _ where isDraining: "draining"
        case .full: "waits for room"
        case .held: "waits for an export"
        case let state: state?.rawValue
        }
    }
}

extension WorkerRecord {
    /// How many requests the worker makes at once, and what keeps it from more where that is trouble.
    var places: String { bound?.isTrouble == true ? "\(concurrency) (\(bound?.rawValue ?? ""))" : "\(concurrency)" }
}
