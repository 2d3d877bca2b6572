import Gannet

/// What a run came to: the ends of its rows, counted.
struct RunSummary: Sendable {
    let totals: ManifestTotals
    /// This run's own.
    let time: Duration

    var text: String {
        var parts = ["\(Amounts.count(totals.fetched, "URL")) fetched"]
        if totals.there > 0 { parts.append("\(totals.there) there already") }
        parts.append("\(totals.failed) failed" + (classes.isEmpty ? "" : " (\(classes))"))
        if totals.repeated > 0 { parts.append("\(totals.repeated) listed more than once") }
        if totals.invalid > 0 { parts.append("\(totals.invalid) invalid") }
        // While a run goes on it counts different URLs; here each row counts, also one whose URL was listed before.
        let rows = totals.rows > totals.fetched + totals.there ? "\(Amounts.count(totals.rows, "row")), " : ""
        return parts.joined(separator: ", ") + "; \(rows)\(Amounts.bytes(totals.bytes)) in \(Amounts.time(time))"
    }

    /// Where to look for what is no success.
    var reference: String { totals.failed + totals.invalid > 0 ? "; manifest.jsonl there says which failed, and why" : "" }

    /// `no-such-host 900, http-404 80, timeout 7, and 2 of other classes`.
    private var classes: String {
        let sorted = totals.classes.sorted { ($0.value, $1.key) > ($1.value, $0.key) }
        let told = sorted.prefix(Self.mostClasses)
        let rest = totals.failed - told.reduce(0) { $0 + $1.value }
        return (told.map { "\($0.key) \($0.value)" } + (rest > 0 ? ["and \(rest) of other classes"] : [])).joined(separator: ", ")
    }

    private static let mostClasses = 5

    /// The names are a contract; each row is counted once, so that they add up.
    var json: JSONValue {
        [
            "summary": [
                "rows": .integer(totals.rows), "done": .integer(totals.fetched + totals.there + totals.repeated),
                "fetched": .integer(totals.fetched), "revalidated": 0, "cached": .integer(totals.there + totals.repeated),
                "failed": .integer(totals.failed), "invalid": .integer(totals.invalid), "bytes": .integer(totals.bytes),
                "durationMilliseconds": .integer(Int(time / .milliseconds(1))),
            ]
        ]
    }
}
