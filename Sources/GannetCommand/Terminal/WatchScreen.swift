import ClusterState

/// A queue on a whole screen: a function of what is known, the room there is, and nothing else.
struct WatchScreen: Sendable {
    let status: StatusReport
    /// The reason why this is not the present, as a sentence.
    var trouble: String?
    let size: Terminal.Size
    let style: TerminalStyle

    private var report: QueueOverview { status.report }
    private var queue: QueueCounts { status.queue }
    private var columns: Int { max(1, size.columns - 1) }

    /// At most as many as the screen has rows, none wider than it.
    var lines: [StyledText] {
        var lines = [header, trouble.map { StyledText($0, .red) } ?? "", progress, depths, totals]
        let layout = WatchLayout(
            rows: size.rows - lines.count, workers: max(1, report.workers.count), hosts: report.hosts.count, columns: columns,
            past: report.history.length)
        lines += throughput(layout) + depth(layout)
        let tables = StatusTables(report: report, style: style)
        if layout.workers > 0 {
            let workers = tables.workers(layout.workers)
            lines.append("")
            lines += workers.isEmpty ? [StyledText(status.hint ?? "no worker is to be seen", .yellow)] : workers.prefix(layout.workers + 1)
        }
        if layout.hosts > 0 { lines += [""] + tables.hosts(layout.hosts) }
        return lines.prefix(max(0, size.rows)).map { $0.cut(to: columns, style) }
    }

    private var header: StyledText {
        let name = StyledText("queue \(status.name)", .bold) + StyledText(queue.isPaused ? " (paused)" : "", .yellow)
        let memory = status.server.usedMemory.map { ", \(Amounts.bytes($0))" } ?? ""
        let version = status.server.version.map { " \($0)" } ?? ""
        let server = "redis\(version)\(memory), \(Amounts.milliseconds(status.server.ping))"
        let right = StyledText("\(server)   q quits", .faint)
        let gap = columns - name.width - right.width
        return gap >= 2 ? name + StyledText(String(repeating: " ", count: gap)) + right : name
    }

    private var progress: StyledText {
        let ended = queue.done + queue.failed + queue.cancelled
        let share = queue.enqueued > 0 ? min(1, max(0, Double(ended) / Double(queue.enqueued))) : 0
        let left =
            report.remaining.map { $0 > .zero ? ", \(Amounts.roughTime($0)) left" : "" }
            ?? ", \(WaitText.sentence(report.waits, of: queue.open) ?? "time left unknown")"
        let text = StyledText("  \(Int(share * 100))%", .bold) + StyledText("  \(ended) of \(queue.enqueued) ended\(left)")
        let room = columns - text.width - 2
        return room >= 8 ? ProgressLines.bar(share, width: min(60, room), style) + text : text
    }

    private var depths: StyledText {
        let oldest = report.oldestAge.map { "   oldest \(Amounts.roughTime($0))" } ?? ""
        return labelled([
            ("ready", queue.ready), ("active", queue.active), ("parked", queue.parked), ("delayed", queue.delayed),
        ]) + StyledText(oldest)
    }

    private var totals: StyledText {
        labelled([
            ("fetched", queue.fetched), ("cached", queue.cached), ("failed", queue.failed), ("retried", queue.retried),
            ("crashed", queue.crashed),
        ]) + StyledText("   \(Amounts.bytes(queue.bytes))")
    }

    private func labelled(_ values: [(name: String, value: Int)]) -> StyledText {
        var line = StyledText()
        for (index, entry) in values.enumerated() {
            let isBad = entry.name == "failed" && entry.value > 0
            line += StyledText((index > 0 ? "   " : "") + entry.name + " ", .faint) + StyledText("\(entry.value)", isBad ? .red : nil)
        }
        return line
    }

    private func throughput(_ layout: WatchLayout) -> [StyledText] {
        let values = report.history.throughput(steps: columns, of: layout.step)
        let now = report.rate.map { "\(Amounts.rate($0.endedPerSecond))/s, \(Amounts.bytes($0.bytesPerSecond))/s" } ?? style.unknown
        return chart("ended a second: \(now)", values, "/s", layout.throughputRows, layout, .green)
    }

    private func depth(_ layout: WatchLayout) -> [StyledText] {
        chart("not ended: \(queue.open)", report.history.depth(steps: columns, of: layout.step), "", layout.depthRows, layout, nil)
    }

    private func chart(
        _ title: String, _ values: [Double?], _ unit: String, _ rows: Int, _ layout: WatchLayout, _ tint: TerminalStyle.Tint?
    ) -> [StyledText] {
        guard rows > 0 else { return [] }
        let highest = values.compactMap(\.self).max().map { "highest \(unit.isEmpty ? "\(Int($0))" : Amounts.rate($0) + unit), " } ?? ""
        let right = StyledText("\(highest)last \(layout.minutes) min", .faint)
        let gap = max(1, columns - title.columns - right.width)
        let head = StyledText(title) + StyledText(String(repeating: " ", count: gap)) + right
        return [head] + Chart.rows(values, height: rows, style).map { StyledText($0, tint) }
    }
}

/// How many rows of a screen each chart and table has.
struct WatchLayout: Sendable, Equatable {
    let throughputRows: Int
    let depthRows: Int

    /// Rows of tables, without their titles; none where there is no room for the table.
    let workers: Int
    let hosts: Int

    /// The time that the whole width of a chart stands for, in minutes, and one of its columns.
    let minutes: Int
    let step: Duration

    /// A table takes an empty row and its titles as well.
    private static let aroundTable = 2

    /// In minutes. Redis keeps the last quarter of an hour.
    private static let spans = [1, 2, 5, 10, 15]

    /// - Parameters:
    ///   - rows: The rows for all charts and tables.
    ///   - workers: How many there are, and the same for `hosts`.
    ///   - past: How far back the history goes.
    init(rows: Int, workers: Int, hosts: Int, columns: Int, past: Duration) {
        throughputRows = rows >= 35 ? 8 : rows >= 17 ? 4 : rows >= 10 ? 2 : 0
        depthRows = throughputRows / 2
        var left = rows - [throughputRows, depthRows].reduce(0) { $0 + ($1 > 0 ? $1 + 1 : 0) }

        // Hosts get the rows that workers leave, and a few rows in any case.
        let fewHosts = min(hosts, 3)
        let hasBoth = hosts > 0 && left >= 2 * Self.aroundTable + 2
        let keptForHosts = hasBoth ? fewHosts + Self.aroundTable : 0
        self.workers = max(0, min(workers, left - keptForHosts - Self.aroundTable))
        left -= self.workers > 0 ? self.workers + Self.aroundTable : 0
        self.hosts = max(0, min(hosts, left - Self.aroundTable))

        minutes = Self.spans.first { .seconds($0 * 60) >= past } ?? 15
        step = .seconds(minutes * 60) / max(1, columns)
    }
}

/// A column for each value, over some rows, the highest of them full.
enum Chart {
    /// - Parameter values: `nil` where nothing is known; the chart is blank there.
    /// - Returns: Rows from the top, each as wide as there are values.
    static func rows(_ values: [Double?], height: Int, _ style: TerminalStyle) -> [String] {
        let top = values.compactMap(\.self).max() ?? 0
        let levels = style.levels
        return (0..<max(0, height)).map { row in
            let rowsBelow = height - 1 - row
            return String(
                values.map { value -> Character in
                    guard let value else { return " " }
                    // The least value is visible, and zero is a line at the bottom.
                    let filled = top > 0 ? Int((max(0, value) / top * Double(height * levels.count)).rounded(.up)) : 0
                    let here = filled - rowsBelow * levels.count
                    if here <= 0 { return rowsBelow == 0 ? levels[0] : " " }
                    return levels[min(here, levels.count) - 1]
                })
        }
    }
}
