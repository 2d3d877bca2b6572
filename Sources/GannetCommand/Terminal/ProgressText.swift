import Crawl
import GannetBase

/// Progress as it is drawn at the bottom of a terminal: a bar, and lines about failures and slow hosts where there are any.
enum ProgressLines {
    private static let widestBar = 40
    private static let narrowestBar = 8
    private static let mostLines = 10

    /// - Parameter offer: How the run may be ended, for a run that is held up.
    static func lines(_ now: ProgressSnapshot, columns: Int, _ style: TerminalStyle, offer: String? = nil) -> [StyledText] {
        let room = LiveArea.room(in: columns)
        var lines = [first(now, room, style)]
        if now.failed > 0 {
            let classes = now.failures.isEmpty ? "" : ": \(now.failuresByClass)"
            lines.append(StyledText("\(now.failed) failed", .red) + StyledText(classes))
        }
        if now.disallowed > 0 { lines.append(StyledText(Amounts.notPermitted(now.disallowed))) }
        lines += now.wait()?.lines.map { StyledText($0, .yellow) } ?? []
        if !now.slowestHosts.isEmpty { lines.append(StyledText("slowest: ", .faint) + StyledText(now.slowestHosts)) }
        if let advice = now.advice { lines.append(StyledText(advice, .yellow)) }
        lines = Array(lines.prefix(mostLines))
        if now.isHeldUp, let offer { lines.append(StyledText(offer, .faint)) }
        return lines.map { $0.cut(to: room, style) }
    }

    /// `[#####.....]  43%  4321 of 10000  812/s  3.4 MB/s  7 s left`. In a narrow terminal the least important parts are left out.
    private static func first(_ now: ProgressSnapshot, _ room: Int, _ style: TerminalStyle) -> StyledText {
        guard let whole = now.shownWhole else { return joined(facts(now), room) }
        let digits = "\(Int(whole.share * 100))"
        let percent = StyledText(String(repeating: " ", count: 3 - digits.count) + digits + "%", .bold)
        let text = joined([(percent, 0)] + facts(now), room)
        let left = room - text.width - 4
        guard left >= narrowestBar else { return text }
        return bar(whole.share, width: min(widestBar, left), style) + "  " + text
    }

    static func bar(_ share: Double, width: Int, _ style: TerminalStyle) -> StyledText {
        // Full only when all is done.
        let filled = share >= 1 ? width : min(width - 1, Int(share * Double(width)))
        return "[" + StyledText(String(repeating: style.filled, count: filled), .green)
            + StyledText(String(repeating: style.empty, count: width - filled), .faint) + "]"
    }

    /// The parts of the line, each with its rank: a higher rank is left out earlier.
    private static func facts(_ now: ProgressSnapshot) -> [(text: StyledText, rank: Int)] {
        var facts: [(StyledText, Int)] = []
        if let whole = now.shownWhole {
            let age = now.wholeAge.map { " (\(Amounts.roughTime($0)) ago)" } ?? ""
            facts.append((StyledText((whole.name.map { $0 + " " } ?? "") + "\(whole.ended) of \(whole.total)\(age)"), 0))
            if whole.name != nil { facts.append((StyledText("\(now.ended - whole.ownBefore) by this worker"), 3)) }
        } else {
            facts.append((StyledText("\(now.fetched + now.there) fetched"), 0))
        }
        facts.append((StyledText(now.endedPerSecond.map { Amounts.rate($0) + "/s" } ?? ""), 1))
        facts.append((StyledText(now.bytesPerSecond.map { Amounts.bytes($0) + "/s" } ?? Amounts.bytes(now.bytes)), 4))
        if now.shownWhole == nil {
            facts.append((StyledText(Amounts.time(now.elapsed)), 2))
        } else {
            facts.append((StyledText(now.wait() == nil ? now.remaining.map(Amounts.timeLeft) ?? "" : ""), 2))
        }
        return facts.filter { $0.0.width > 0 }
    }

    /// As many parts as there is room for.
    private static func joined(_ facts: [(text: StyledText, rank: Int)], _ room: Int) -> StyledText {
        var kept = facts
        func text() -> StyledText { kept.dropFirst().reduce(kept.first?.text ?? "") { $0 + "  " + $1.text } }
        while text().width > room, let last = kept.indices.max(by: { kept[$0].rank < kept[$1].rank }), kept[last].rank > 0 {
            kept.remove(at: last)
        }
        return text()
    }
}

/// Progress as it is told where nothing can be drawn: one line now and then.
enum ProgressText {
    static func line(_ now: ProgressSnapshot) -> String {
        var own = [counts(now)]
        if let rate = now.endedPerSecond { own.append("\(Amounts.rate(rate))/s") }
        if let rate = now.bytesPerSecond { own.append("\(Amounts.bytes(rate))/s") }
        let left = [now.wait()?.sentence ?? now.remaining.map(Amounts.timeLeft)].compactMap(\.self)
        let slowest = now.slowestHosts.isEmpty ? nil : "slowest: \(now.slowestHosts)"
        var parts: [[String]]
        switch now.shownWhole {
        case let whole? where whole.name != nil:
            // The queue's numbers are some seconds old, so this worker may have ended more jobs by now.
            let age = now.wholeAge.map { " \(Amounts.roughTime($0)) ago" } ?? ""
            own[0] = "this worker: \(own[0])"
            // This worker's numbers are those since its beginning.
            let since = whole.ownBefore > 0 ? " since it was last empty" : ""
            parts = [own, ["\(whole.name ?? "")\(since): \(whole.ended) of \(whole.total) had ended\(age)"] + left]
        case let whole?: parts = [["\(whole.ended) of \(Amounts.count(whole.total, "different URL")) done"] + own + left]
        case nil: parts = [own + left]
        }
        parts += [slowest, now.advice].compactMap(\.self).map { [$0] }
        return parts.map { $0.joined(separator: ", ") }.joined(separator: "; ")
    }

    /// This command's counts, and what the rest waits for.
    static func interrupted(_ now: ProgressSnapshot) -> String {
        ([counts(now)] + [now.wait(goesOn: false)?.sentence].compactMap(\.self)).joined(separator: "; ")
    }

    /// This command's counts.
    static func counts(_ now: ProgressSnapshot) -> String {
        let there = now.there > 0 ? ", \(now.there) there already" : ""
        let classes = now.failures.isEmpty ? "" : " (\(now.failuresByClass))"
        let disallowed = now.disallowed > 0 ? ", \(Amounts.notPermitted(now.disallowed))" : ""
        let ends = "\(now.fetched) fetched\(there), \(now.failed) failed\(classes)\(disallowed)"
        return "\(ends), \(Amounts.bytes(now.bytes)) in \(Amounts.time(now.elapsed))"
    }

    /// The same for logs that programs read. The totals are the queue's since it was first used.
    static func facts(_ now: ProgressSnapshot) -> LogFacts {
        [
            (key: "fetched", value: .integer(now.fetched)), (key: "cached", value: .integer(now.there)),
            (key: "failed", value: .integer(now.failed)), (key: "disallowed", value: .integer(now.disallowed)),
            (key: "bytes", value: .integer(now.bytes)),
            (key: "ended", value: JSONValue(now.whole.map { $0.ended + $0.endedBefore })),
            (key: "total", value: JSONValue(now.whole.map { $0.total + $0.endedBefore })),
        ]
    }
}
