import ClusterState

/// A queue's status for people: names on the left, what they are on the right, then workers and hosts in tables.
struct StatusText: Sendable {
    let status: StatusReport
    let style: TerminalStyle

    /// A fleet's long tail is for scripts.
    private static let mostWorkers = 20
    private static let mostHosts = 8

    var lines: [String] {
        let rows = rows
        let width = rows.map(\.name.count).max() ?? 0
        var lines = rows.map { row in row.name + String(repeating: " ", count: width + 2 - row.name.count) + row.value }
        let tables = StatusTables(report: status.report, style: style)
        for table in [tables.workers(Self.mostWorkers), tables.hosts(Self.mostHosts), tables.others()] where !table.isEmpty {
            lines.append("")
            lines += table.map { $0.written(style) }
        }
        return lines
    }

    var text: String { lines.joined(separator: "\n") }

    private var rows: [(name: String, value: String)] {
        let (queue, report, server) = (status.queue, status.report, status.server)
        let unknown = style.unknown
        let oldest = report.oldestAge.map { " (the oldest for \(Amounts.roughTime($0)))" } ?? ""
        let kinds = [
            "\(queue.fetched) fetched", queue.revalidated > 0 ? "\(queue.revalidated) unchanged" : nil, "\(queue.cached) cached",
        ].compactMap(\.self).joined(separator: ", ")
        let speed = report.rate.map { "\(Amounts.rate($0.donePerSecond))/s, \(Amounts.bytes($0.bytesPerSecond))/s in the last minute" }
        var rows = [
            ("queue", status.name.printable + (queue.isPaused ? " (paused)" : "")),
            ("ready", "\(queue.ready)\(oldest)"),
            ("active", "\(queue.active)"),
            ("parked", "\(queue.parked)"),
            ("delayed", "\(queue.delayed)"),
            ("done", "\(queue.done) (\(kinds); \(Amounts.bytes(queue.bytes)))"),
            ("failed", "\(queue.failed)"),
            ("dead", "\(queue.dead)"),
            ("retried", "\(queue.retried)"),
            ("crashed", "\(queue.crashed)"),
        ]
        if queue.cancelled > 0 { rows.append(("cancelled", "\(queue.cancelled)")) }
        if queue.doubleFetches > 0 { rows.append(("fetched twice", "\(queue.doubleFetches)")) }
        let memory = server.usedMemory.map { Amounts.bytes($0) + " used" } ?? "unknown memory"
        let limit = server.memoryLimit.flatMap { $0 == 0 ? nil : $0 }.map { " of \(Amounts.bytes($0))" } ?? ""
        rows += [
            ("enqueued", "\(queue.enqueued)"),
            ("speed", speed ?? unknown),
            (
                "left",
                report.remaining.map { $0 > .zero ? Amounts.roughTime($0) : "nothing" } ?? WaitText.sentence(report.waits, of: queue.open)
                    ?? unknown
            ),
            ("redis", "\(server.version ?? "unknown version"), \(memory)\(limit), answers in \(Amounts.milliseconds(server.ping))"),
        ]
        return rows
    }
}
