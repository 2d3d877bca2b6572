import Crawl
import GannetBase
import GannetQueue
import Results

/// The result of an export, for people and for scripts.
struct ExportReport: Sendable {
    let queue: String
    let batch: Batch
    /// The folders of workers that were asked for bodies.
    let folders: [String]
    /// Of the URLs of the batch.
    let totals: ManifestTotals
    /// Of the rows of the list that the manifest follows, if there is one.
    let list: ManifestTotals?
    let time: Duration

    var text: String {
        var parts = ["\(Amounts.count(totals[.fetched], "body", "bodies")) written"]
        if totals[.there] > 0 { parts.append("\(totals[.there]) there already") }
        parts.append("\(totals[.failed]) failed")
        if totals.disallowed > 0 { parts.append(Amounts.notPermitted(totals.disallowed)) }
        if batch.cancelled > 0 { parts.append("\(batch.cancelled) cancelled") }
        if left > 0 { parts.append("\(left) still to come") }
        return parts.joined(separator: ", ") + "; \(Amounts.bytes(totals.bytes)) in \(Amounts.time(time))"
    }

    /// The names of a run's summary mean the same here, and add up; then what only a batch has.
    var json: JSONValue {
        var summary: [(key: String, value: JSONValue)] = [
            ("rows", .integer(totals.rows - totals[.repeated])), ("done", .integer(totals[.fetched] + totals[.there])),
            ("fetched", .integer(totals[.fetched])),
            ("revalidated", 0), ("cached", .integer(totals[.there])), ("failed", .integer(totals[.failed])),
            ("disallowed", .integer(totals.disallowed)), ("invalid", .integer(list?[.invalid] ?? 0)),
            ("bytes", .integer(totals.bytes)), ("durationMilliseconds", .integer(Int(time / .milliseconds(1)))),
            ("batch", .string(batch.name)), ("queue", .string(queue)), ("state", .string(batch.state.rawValue)),
            ("evicted", .integer(evicted)), ("elsewhere", .integer(elsewhere)), ("forgotten", .integer(forgotten)),
            ("repeated", .integer(totals[.repeated])), ("cancelled", .integer(batch.cancelled)), ("left", .integer(left)),
        ]
        if let list { summary += [("listRows", .integer(list.rows)), ("absent", .integer(absent))] }
        return ["summary": .object(summary)]
    }

    /// Advice for bodies that are missing.
    var complaints: [String] {
        var complaints: [String] = []
        if elsewhere > 0 {
            let what = "\(Amounts.count(elsewhere, "body", "bodies")) of the batch \(elsewhere == 1 ? "is" : "are")"
            let (were, them) = elsewhere == 1 ? ("was", "it") : ("were", "them")
            let asked = folders.map { Sentence.quoted($0) }.joined(separator: " and ")
            complaints.append(
                folders.isEmpty
                    ? "\(what) in a worker's folder: name that with '--store'."
                    : "\(what) in another worker's folder than \(asked), or \(were) removed there: add '--store FOLDER', or fetch \(them) "
                        + "again with '--refetch'.")
        }
        if evicted > 0 {
            let them = evicted == 1 ? "it" : "them"
            complaints.append(
                "\(Amounts.count(evicted, "body", "bodies")) of the batch \(evicted == 1 ? "is" : "are") not kept any more; "
                    + "'--refetch' fetches \(them) again.")
        }
        if forgotten > 0 {
            let what = Amounts.count(forgotten, "URL")
            complaints.append(
                "Of \(what) nothing is kept any more, and not even what \(forgotten == 1 ? "it was" : "they were"): enqueue the list again, "
                    + "and export it within 30 days.")
        }
        if absent > 0 {
            complaints.append(
                "\(Amounts.count(absent, "row")) of the list \(absent == 1 ? "names a URL that is" : "name URLs that are") not among the "
                    + "batch's ended ones; their class in the manifest is 'absent'.")
        }
        if let complaint = BatchReport.complaint(of: batch) { complaints.append(complaint) }
        if !batch.isComplete {
            let name = Sentence.quoted(batch.name)
            let why =
                left > 0
                ? "\(left) of \(Amounts.count(batch.total, "URL")) \(left == 1 ? "has" : "have") not ended"
                : "its input has not ended, perhaps because its 'enqueue' still runs"
            complaints.append(
                "The batch is not complete: \(why). 'gannet batch wait' waits for \(name); then run the command again. Where its workers wait for "
                    + "room, they go on now, and only further exports make more.")
        }
        return complaints
    }

    /// 75 for a batch that is not complete, as with `batch wait`: the next export tells of failures so far. Otherwise it is as with `run`,
    /// and a cancelled URL counts as one that failed.
    var status: ExitStatus {
        guard batch.isComplete else { return .timedOut }
        if batch.lostParts > 0 { return .unavailable }
        let ofList = absent + (list?[.invalid] ?? 0)
        return totals[.failed] + batch.cancelled + ofList == 0 ? .done : .someFailed
    }

    private var evicted: Int { totals.classes["evicted"] ?? 0 }
    private var elsewhere: Int { totals.classes["elsewhere"] ?? 0 }
    private var forgotten: Int { totals.classes["forgotten"] ?? 0 }
    /// Rows whose URLs are not among the batch's ended ones.
    private var absent: Int { list?.classes["absent"] ?? 0 }

    /// Jobs of which nothing can be said yet.
    private var left: Int { batch.total - batch.ended }
}
