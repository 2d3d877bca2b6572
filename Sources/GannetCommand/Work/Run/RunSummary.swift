import Gannet

/// What a run came to: the ends of its rows, counted.
struct RunSummary: Sendable {
    let totals: ManifestTotals
    /// This run's own.
    let time: Duration

    var text: String {
        var parts = ["\(Amounts.count(totals.fetched, "URL")) fetched"]
        if totals.there > 0 { parts.append("\(totals.there) there already") }
        parts.append("\(totals.failed) failed")
        if totals.repeated > 0 { parts.append("\(totals.repeated) listed more than once") }
        if totals.invalid > 0 { parts.append("\(totals.invalid) invalid") }
        return parts.joined(separator: ", ") + "; \(Amounts.bytes(totals.bytes)) in \(Amounts.time(time))"
    }

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
