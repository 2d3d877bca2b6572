import GannetQueue

/// A queue's status for people: names on the left, values on the right, then workers and hosts in tables.
extension StatusReport {
    /// A fleet's long tail is for scripts.
    private static let mostWorkers = 20
    private static let mostHosts = 8
    private static let mostClasses = 4

    /// - Parameter columns: Of the terminal, where there is one: long values break between words.
    func lines(_ style: TerminalStyle, columns: Int? = nil) -> [String] {
        let named = rows(style)
        let width = named.map(\.name.count).max() ?? 0
        var lines = named.flatMap { row in
            let line = row.name + String(repeating: " ", count: width + 2 - row.name.count) + row.value
            return line.wrapped(to: columns ?? .max, indent: width + 2).split(separator: "\n").map(String.init)
        }
        let tables = [report.workerTable(Self.mostWorkers, style), report.hostTable(Self.mostHosts, style), report.queueTable(style)]
        for table in tables where !table.isEmpty { lines += [""] + table.map { $0.written(style) } }
        return lines
    }

    private func rows(_ style: TerminalStyle) -> [(name: String, value: String)] {
        let oldest = report.oldestAge.map { " (the oldest for \(Amounts.roughTime($0)))" } ?? ""
        let kinds = [
            "\(queue.fetched) fetched", queue.revalidated > 0 ? "\(queue.revalidated) unchanged" : nil, "\(queue.cached) there already",
        ].compactMap(\.self).joined(separator: ", ")
        let speed = report.rate.map { "\(Amounts.rate($0.donePerSecond))/s, \(Amounts.bytes($0.bytesPerSecond))/s in the last minute" }
        let dead = queue.dead == queue.failed ? "all" : "\(queue.dead)"
        var rows = [
            ("queue", name.printable + queue.pauseText),
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
            ("left", unknown == nil ? left(inSentence: false) ?? "nothing" : style.unknown),
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
        let number = report.failures.notPermitted
        return number > 0 ? " (\(number) not permitted)" : ""
    }

    /// The most frequent classes of the other failures.
    private var classes: String {
        let known = report.failures.sorted.filter { !$0.errorClass.isEmpty && $0.errorClass != FailureCounts.disallowed }
        guard let first = known.first else { return "" }
        if known.count == 1, first.count == queue.failed { return ", all \(ClassCounts.shown(first.errorClass))" }
        let shown = known.prefix(Self.mostClasses).map { "\(ClassCounts.shown($0.errorClass)) \($0.count)" }
        return ": " + shown.joined(separator: ", ") + (known.count > shown.count ? " and others" : "")
    }

    private var progress: String {
        if let partial { return partial }
        if let unknown { return unknown.sentence }
        if queue.enqueued == 0 { return "nothing was put into this queue yet" }
        if queue.open == 0 { return "finished" }
        let batches = work.batches > 1 ? " in \(work.batches) batches" : ""
        return "\(Int(work.share * 100))%: \(work.ended) of \(work.total) ended\(batches)"
    }
}

extension QueueCounts {
    /// Stands behind a queue's name.
    var pauseText: String {
        if isPaused { return " (paused)" }
        return paused > 0 ? " (paused in \(paused) of \(partitions) partitions)" : ""
    }
}

/// The workers and the hosts of a queue in rows; no lines where there are none.
extension QueueOverview {
    /// - Parameter most: Workers; the rest is a number.
    func workerTable(_ most: Int, _ style: TerminalStyle) -> [StyledText] {
        guard !workers.isEmpty, most > 0 else { return [] }
        var table = TextTable([
            ("WORKER", .left), ("ON", .left), ("PID", .right), ("VERSION", .left), ("JOBS", .right), ("PLACES", .right), ("HEARD", .right),
            ("STATE", .left),
        ])
        for worker in workers.byMachine.prefix(most) {
            let record = worker.record
            let known: [String?] = [
                worker.id, record?.machine, record.map { String($0.processID) }, record?.version, record.map { String($0.active) },
                record?.places, "\(Amounts.roughTime(worker.heartbeat)) ago",
            ]
            table.add(known.map { StyledText(style.known($0)) } + [worker.stateCell(style)])
        }
        let rest = workers.count - most
        return table.lines(mostColumns: 24, style) + (rest > 0 ? [StyledText("\(style.ellipsis) and \(rest) more", .faint)] : [])
    }

    /// - Parameter most: Hosts; the rest is not worth a number, since workers tell only of some.
    func hostTable(_ most: Int, _ style: TerminalStyle) -> [StyledText] {
        let hosts = hosts
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
                StyledText(style.known(host.average.map(Amounts.time))),
                StyledText(style.known(host.running > 0 ? Amounts.time(host.longest) : nil)),
                StyledText(host.isGivenUp ? "given up" : style.known(host.rest.map { Amounts.time($0) }), .red),
            ])
        }
        return table.lines(mostColumns: 36, style)
    }

    fileprivate func queueTable(_ style: TerminalStyle) -> [StyledText] {
        guard !others.isEmpty else { return [] }
        var table = TextTable([("OTHER QUEUES", .left), ("NOT ENDED", .right), ("WORKERS", .right)])
        for queue in others { table.add([queue.name, "\(queue.open)", "\(queue.workers)"].map { StyledText($0) }) }
        return table.lines(mostColumns: 64, style)
    }
}

extension TerminalStyle {
    fileprivate func known(_ text: String?) -> String { text.map { $0.isEmpty ? unknown : $0 } ?? unknown }
}

extension WorkerStatus {
    fileprivate func stateCell(_ style: TerminalStyle) -> StyledText {
        let word = style.known(stateText)
        return switch state {
        case .full, .held, .silent: StyledText(word, .red)
        case _ where isDraining: StyledText(word, .yellow)
        case .working: StyledText(word, .green)
        default: StyledText(word)
        }
    }

    /// The state in few words, the same in all listings; `nil` where it is not known.
    var stateText: String? {
        switch state {
        case .silent:
            "silent for \(Amounts.roughTime(heartbeat))"
                + (jobsBack.map { ", its jobs come back in \(Amounts.roughTime($0)) at the latest" } ?? "")
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
