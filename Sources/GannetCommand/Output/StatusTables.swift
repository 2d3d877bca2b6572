import ClusterState

/// The workers and the hosts of a queue in rows; no lines where there are none.
struct StatusTables: Sendable {
    let report: QueueOverview
    let style: TerminalStyle

    /// - Parameter most: Workers; the rest is a number.
    func workers(_ most: Int) -> [StyledText] {
        guard !report.workers.isEmpty, most > 0 else { return [] }
        var table = TextTable([
            ("WORKER", .left), ("ON", .left), ("PID", .right), ("VERSION", .left), ("ACTIVE", .right), ("HEARD", .right), ("STATE", .left),
        ])
        for worker in report.sortedWorkers.prefix(most) {
            let record = worker.record
            let active = record.map { "\($0.active)/\($0.concurrency)" }
            table.add([
                StyledText(worker.id), StyledText(known(record?.machine)), StyledText(known(record.map { String($0.processID) })),
                StyledText(known(record?.version)), StyledText(known(active)),
                StyledText("\(Amounts.roughTime(worker.heartbeat(at: report.now))) ago"),
                state(worker.state(at: report.now)),
            ])
        }
        return table.lines(mostColumns: 24, style) + rest(report.workers.count - most)
    }

    /// - Parameter most: Hosts; the rest is not worth a number, since workers tell only of some.
    func hosts(_ most: Int) -> [StyledText] {
        let hosts = report.hosts
        guard !hosts.isEmpty, most > 0 else { return [] }
        var table = TextTable([
            ("BUSIEST HOSTS", .left), ("IN FLIGHT", .right), ("ENDED", .right), ("FAILED", .right), ("AVERAGE", .right),
            ("NOW FOR", .right),
        ])
        for host in hosts.prefix(most) {
            table.add([
                StyledText(host.name), StyledText("\(host.running)"), StyledText("\(Amounts.rate(host.endedPerSecond))/s"),
                StyledText("\(Int((host.failureShare * 100).rounded()))%", host.failureShare > 0 ? .red : nil),
                StyledText(known(host.average.map(Amounts.time))), StyledText(known(host.running > 0 ? Amounts.time(host.longest) : nil)),
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

    private func state(_ state: WorkerStatus.State?) -> StyledText {
        switch state {
        case .working: StyledText("working", .green)
        case .idle: "idle"
        case .stopping: StyledText("stopping", .yellow)
        case .silent: StyledText("silent", .red)
        case nil: StyledText(style.unknown)
        }
    }

    private func rest(_ count: Int) -> [StyledText] {
        count > 0 ? [StyledText("\(style.ellipsis) and \(count) more", .faint)] : []
    }
}
