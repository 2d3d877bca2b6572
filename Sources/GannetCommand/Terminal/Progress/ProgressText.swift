/// Progress as it is told where nothing can be drawn: one line now and then.
enum ProgressText {
    static func line(_ now: ProgressSnapshot) -> String {
        var parts: [String] = []
        if let whole = now.whole {
            parts.append(
                whole.name.map { "\($0): \(whole.ended) of \(whole.total)" }
                    ?? "\(whole.ended) of \(Amounts.count(whole.total, "different URL")) done")
        }
        parts.append(counts(now))
        if let rate = now.endedPerSecond { parts.append("\(Amounts.rate(rate))/s") }
        if let rate = now.bytesPerSecond { parts.append("\(Amounts.bytes(rate))/s") }
        if let left = now.remaining.map({ "\(Amounts.roughTime($0)) left" }) ?? now.waitedFor { parts.append(left) }
        let line = parts.joined(separator: ", ")
        let slowest = now.slowestHosts.isEmpty ? nil : "slowest: \(now.slowestHosts)"
        return ([line] + [slowest, now.advice].compactMap(\.self)).joined(separator: "; ")
    }

    /// What this command has done.
    static func counts(_ now: ProgressSnapshot) -> String {
        let cached = now.cached > 0 ? ", \(now.cached) fetched before" : ""
        let classes = now.failures.isEmpty ? "" : " (\(now.failuresByClass))"
        let ended = "\(now.fetched) fetched\(cached), \(now.failed) failed\(classes)"
        return "\(ended), \(Amounts.bytes(now.bytes)) in \(Amounts.time(now.elapsed))"
    }

    /// The same for logs that programs read.
    static func facts(_ now: ProgressSnapshot) -> LogFacts {
        [
            (key: "fetched", value: .integer(now.fetched)), (key: "cached", value: .integer(now.cached)),
            (key: "failed", value: .integer(now.failed)), (key: "bytes", value: .integer(now.bytes)),
            (key: "ended", value: JSONValue(now.whole?.ended)), (key: "total", value: JSONValue(now.whole?.total)),
        ]
    }
}
