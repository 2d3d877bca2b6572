import Crawl
import GannetBase

/// Progress as it is drawn at the bottom of a terminal: a bar, and lines about failures and slow hosts where there are any.
extension ProgressSnapshot {
    private static let widestBar = 40
    private static let narrowestBar = 8
    private static let mostLines = 10

    /// - Parameter offer: How the run may be ended, for a run that is held up.
    func lines(columns: Int, _ style: TerminalStyle, offer: String? = nil) -> [StyledText] {
        let room = LiveArea.room(in: columns)
        var lines = [firstLine(room, style)]
        if counts.failed > 0 {
            let classes = counts.failuresByClass
            lines.append(StyledText("\(counts.failed) failed", .red) + StyledText(classes.isEmpty ? "" : ": \(classes)"))
        }
        if counts.disallowed > 0 { lines.append(StyledText(Amounts.notPermitted(counts.disallowed))) }
        lines += wait()?.lines.map { StyledText($0, .yellow) } ?? []
        if !slowestHosts.isEmpty { lines.append(StyledText("slowest: ", .faint) + StyledText(slowestHosts)) }
        if let advice { lines.append(StyledText(advice, .yellow)) }
        lines = Array(lines.prefix(Self.mostLines))
        if isHeldUp, let offer { lines.append(StyledText(offer, .faint)) }
        return lines.map { $0.cut(to: room, style) }
    }

    /// `[#####.....]  43%  4321 of 10000  812/s  3.4 MB/s  7 s left`. In a narrow terminal the least important parts are left out.
    private func firstLine(_ room: Int, _ style: TerminalStyle) -> StyledText {
        guard let whole = shownWhole else { return Self.joined(parts, room) }
        let digits = "\(Int(whole.share * 100))"
        let percent = StyledText(String(repeating: " ", count: 3 - digits.count) + digits + "%", .bold)
        let text = Self.joined([(percent, 0)] + parts, room)
        let left = room - text.width - 4
        guard left >= Self.narrowestBar else { return text }
        return style.bar(whole.share, width: min(Self.widestBar, left)) + "  " + text
    }

    /// The parts of the line, each with its rank: a higher rank is left out earlier.
    private var parts: [(text: StyledText, rank: Int)] {
        var parts: [(StyledText, Int)] = []
        if let whole = shownWhole {
            let age = wholeAge.map { " (\(Amounts.roughTime($0)) ago)" } ?? ""
            parts.append((StyledText((whole.name.map { $0 + " " } ?? "") + "\(whole.ended) of \(whole.total)\(age)"), 0))
            if whole.name != nil { parts.append((StyledText("\(counts.ended - whole.ownBefore) by this worker"), 3)) }
        } else {
            parts.append((StyledText("\(counts.count(of: .fetched) + counts.there) fetched"), 0))
        }
        parts.append((StyledText(endedPerSecond.map { Amounts.rate($0) + "/s" } ?? ""), 1))
        parts.append((StyledText(bytesPerSecond.map { Amounts.bytes($0) + "/s" } ?? Amounts.bytes(counts.bytes)), 4))
        if shownWhole == nil {
            parts.append((StyledText(Amounts.time(elapsed)), 2))
        } else {
            parts.append((StyledText(wait() == nil ? remaining.map(Amounts.timeLeft) ?? "" : ""), 2))
        }
        return parts.filter { $0.0.width > 0 }
    }

    private static func joined(_ parts: [(text: StyledText, rank: Int)], _ room: Int) -> StyledText {
        var kept = parts
        func text() -> StyledText { kept.dropFirst().reduce(kept.first?.text ?? "") { $0 + "  " + $1.text } }
        while text().width > room, let last = kept.indices.max(by: { kept[$0].rank < kept[$1].rank }), kept[last].rank > 0 {
            kept.remove(at: last)
        }
        return text()
    }
}

extension TerminalStyle {
    /// Full only when all is done.
    func bar(_ share: Double, width: Int) -> StyledText {
        let full = share >= 1 ? width : min(width - 1, Int(share * Double(width)))
        return "[" + StyledText(String(repeating: filled, count: full), .green)
            + StyledText(String(repeating: empty, count: width - full), .faint) + "]"
    }
}

/// Progress as it is told where nothing can be drawn: one line now and then.
extension ProgressSnapshot {
    var line: String {
        var own = [ownCounts]
        if let endedPerSecond { own.append("\(Amounts.rate(endedPerSecond))/s") }
        if let bytesPerSecond { own.append("\(Amounts.bytes(bytesPerSecond))/s") }
        let left = [wait()?.sentence ?? remaining.map(Amounts.timeLeft)].compactMap(\.self)
        let slowest = slowestHosts.isEmpty ? nil : "slowest: \(slowestHosts)"
        var parts: [[String]]
        switch shownWhole {
        case let whole? where whole.name != nil:
            // The queue's numbers are some seconds old, so this worker may have ended more jobs by now.
            let age = wholeAge.map { " \(Amounts.roughTime($0)) ago" } ?? ""
            own[0] = "this worker: \(own[0])"
            // This worker's numbers are those since its beginning.
            let since = whole.ownBefore > 0 ? " since it was last empty" : ""
            parts = [own, ["\(whole.name ?? "")\(since): \(whole.ended) of \(whole.total) had ended\(age)"] + left]
        case let whole?: parts = [["\(whole.ended) of \(Amounts.count(whole.total, "different URL")) done"] + own + left]
        case nil: parts = [own + left]
        }
        parts += [slowest, advice].compactMap(\.self).map { [$0] }
        return parts.map { $0.joined(separator: ", ") }.joined(separator: "; ")
    }

    /// This command's counts, and what the rest waits for.
    var interrupted: String { ([ownCounts] + [wait(goesOn: false)?.sentence].compactMap(\.self)).joined(separator: "; ") }

    /// This command's counts.
    var ownCounts: String {
        let there = counts.there > 0 ? ", \(counts.there) there already" : ""
        let classes = counts.failuresByClass
        let failed = "\(counts.failed) failed\(classes.isEmpty ? "" : " (\(classes))")"
        let disallowed = counts.disallowed > 0 ? ", \(Amounts.notPermitted(counts.disallowed))" : ""
        return
            "\(counts.count(of: .fetched)) fetched\(there), \(failed)\(disallowed), \(Amounts.bytes(counts.bytes)) in \(Amounts.time(elapsed))"
    }

    /// The same for logs that programs read. The totals are the queue's since it was first used.
    var facts: LogFacts {
        [
            (key: "fetched", value: .integer(counts.count(of: .fetched))), (key: "cached", value: .integer(counts.there)),
            (key: "failed", value: .integer(counts.failed)), (key: "disallowed", value: .integer(counts.disallowed)),
            (key: "bytes", value: .integer(counts.bytes)),
            (key: "ended", value: JSONValue(whole.map { $0.ended + $0.endedBefore })),
            (key: "total", value: JSONValue(whole.map { $0.total + $0.endedBefore })),
        ]
    }
}
