import GannetQueue

/// A queue on a whole screen, as a function of the status and the size of the screen.
struct WatchScreen: Sendable {
    let status: StatusReport
    /// The watcher's looks, with this one.
    var looks: [QueueSample] = []
    /// The reason why this is not the present, as a sentence.
    var trouble: String?
    /// How long after this look the queue was gone, because its run had ended.
    var goneAfter: Duration?
    let size: Terminal.Size
    let style: TerminalStyle

    private var report: QueueOverview { status.report }
    private var queue: QueueCounts { status.queue }
    private var columns: Int { max(1, size.columns - 1) }

    /// At most as many as the screen has rows, none wider than it.
    var lines: [StyledText] {
        var lines = [header, trouble.map { StyledText($0, .red) } ?? "", progress, depths, ends, attempts]
        let history = QueueHistory(report, looks: looks)
        let isGone = goneAfter != nil
        let layout = WatchLayout(
            rows: size.rows - lines.count, workers: isGone ? 1 : max(1, report.workers.count), hosts: isGone ? 0 : report.hosts.count,
            columns: columns, past: history.length)
        let speed = report.rate.map { "\(Amounts.rate($0.endedPerSecond))/s, \(Amounts.bytes($0.bytesPerSecond))/s" } ?? style.unknown
        let throughput = history.throughput(steps: columns, of: layout.step)
        lines += chart("ended a second: \(speed)", throughput, "/s", layout.throughputRows, layout, .green)
        lines += chart("not ended: \(queue.open)", history.depth(steps: columns, of: layout.step), "", layout.depthRows, layout, nil)
        if layout.workers > 0 {
            let workers = isGone ? [StyledText("its workers have ended", .faint)] : report.workerTable(layout.workers, style)
            lines.append("")
            let none = StyledText(status.unknown?.advice ?? "no worker is at work", .yellow)
            lines += workers.isEmpty ? [none] : workers.prefix(layout.workers + 1)
        }
        if layout.hosts > 0 { lines += [""] + report.hostTable(layout.hosts, style) }
        return lines.prefix(max(0, size.rows)).map { $0.cut(to: columns, style) }
    }

    private var header: StyledText {
        let name = StyledText("queue \(status.name)", .bold) + StyledText(queue.pauseText, .yellow)
        let memory = status.server.usedMemory.map { ", \(Amounts.bytes($0))" } ?? ""
        let version = status.server.version.map { " \($0)" } ?? ""
        let server = "redis\(version)\(memory), \(Amounts.milliseconds(status.server.ping))"
        let right = StyledText("\(server)   q quits", .faint)
        let gap = columns - name.width - right.width
        return gap >= 2 ? name + StyledText(String(repeating: " ", count: gap)) + right : name
    }

    private var progress: StyledText {
        if let goneAfter {
            // Both sentences have room on a screen of 80 columns.
            let age = Amounts.roughTime(max(goneAfter, .seconds(1)))
            return StyledText("finished: the run ended and removed its queue. The counts are from \(age) before.", .green)
        }
        if let unknown = status.unknown { return StyledText(unknown.sentence, .yellow) }
        if let partial = status.partial { return StyledText(partial + ", and its jobs are not counted here", .yellow) }
        guard queue.enqueued > 0 else { return StyledText("nothing to do", .faint) }
        let work = status.work
        let isFinished = queue.open == 0
        let share = isFinished ? 1 : work.share
        // Redis may have lost the queue's batches.
        let all = work.total > 0 ? work.total : queue.enqueued
        let what = isFinished ? "finished: \(all) of \(all) ended" : "\(work.ended) of \(work.total) ended"
        let batches = work.batches > 1 ? " in \(work.batches) batches" : ""
        let left = status.left(inSentence: true).map { ", \($0)" } ?? ""
        let text = StyledText("  \(Int(share * 100))%", .bold) + StyledText("  \(what)\(batches)\(left)")
        let room = columns - text.width - 2
        return room >= 8 ? style.bar(share, width: min(60, room)) + text : text
    }

    private var depths: StyledText {
        labelled(
            "not ended", queue.open,
            [("ready", queue.ready), ("active", queue.active), ("parked", queue.parked), ("delayed", queue.delayed)])
    }

    /// Rare ends are left out while there are none, so that the numbers add up in any case.
    private var ends: StyledText {
        let notPermitted = report.failures.notPermitted
        let usual: [(name: String, value: Int)] = [
            ("fetched", queue.fetched), ("there already", queue.cached), ("failed", queue.failed - notPermitted),
        ]
        let rare: [(name: String, value: Int)] = [
            ("not permitted", notPermitted), ("unchanged", queue.revalidated), ("cancelled", queue.cancelled),
        ]
        return labelled("ended", status.ended, usual + rare.filter { $0.value > 0 })
    }

    private var attempts: StyledText {
        let oldest = report.oldestAge.map { "oldest waits \(Amounts.roughTime($0)); " } ?? ""
        return StyledText("\(oldest)\(queue.retried) retried, \(queue.crashed) crashed; \(Amounts.bytes(queue.bytes)) fetched", .faint)
    }

    /// `ended 50: fetched 40, failed 10`
    private func labelled(_ name: String, _ total: Int, _ parts: [(name: String, value: Int)]) -> StyledText {
        var line = StyledText("\(name) ", .faint) + StyledText("\(total)") + StyledText(": ", .faint)
        for (index, part) in parts.enumerated() {
            line += StyledText((index > 0 ? ", " : "") + part.name + " ", .faint)
            line += StyledText("\(part.value)", part.name == "failed" && part.value > 0 ? .red : nil)
        }
        return line
    }

    private func chart(
        _ title: String, _ values: [Double?], _ unit: String, _ rows: Int, _ layout: WatchLayout, _ tint: TerminalStyle.Tint?
    ) -> [StyledText] {
        guard rows > 0 else { return [] }
        let highest = values.compactMap(\.self).max().map { "highest \(unit.isEmpty ? "\(Int($0))" : Amounts.rate($0) + unit), " } ?? ""
        let right = StyledText("\(highest)last \(layout.minutes) min", .faint)
        let gap = max(1, columns - title.columns - right.width)
        let head = StyledText(title) + StyledText(String(repeating: " ", count: gap)) + right
        return [head] + style.chart(values, height: rows).map { StyledText($0, tint) }
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

extension TerminalStyle {
    /// A column for each value, over some rows, the highest of them full.
    /// - Parameter values: `nil` where nothing is known; the chart is blank there.
    /// - Returns: Rows from the top, each as wide as there are values.
    func chart(_ values: [Double?], height: Int) -> [String] {
        let top = values.compactMap(\.self).max() ?? 0
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
