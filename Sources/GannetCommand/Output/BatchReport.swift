import Crawl
import GannetBase
import GannetQueue

/// A batch as people and as scripts read it.
struct BatchReport: Sendable {
    let queue: String
    let batch: Batch

    /// Where the values of ``text`` begin.
    static let indent = 11

    var text: String {
        let rows = [
            ("batch", batch.name),
            ("queue", queue),
            ("state", state),
            ("priority", batch.options.priority.rawValue),
            ("wants", wants),
            ("manners", batch.options.manners.words),
            ("keeps", batch.options.keeping.words),
            ("headers", headerNames.isEmpty ? "none of its own" : headerNames.joined(separator: ", ")),
            ("trace", batch.options.trace?.traceID ?? "none"),
            ("begun", batch.age.map { Amounts.time($0) + " ago" } ?? "unknown"),
            ("progress", progress),
            ("done", String(batch.done)),
            ("failed", String(batch.failed - batch.disallowed)),
            ("disallowed", String(batch.disallowed)),
            ("cancelled", String(batch.cancelled)),
            ("ready", String(batch.ready)),
            ("active", String(batch.active)),
            ("parked", String(batch.parked)),
            ("delayed", String(batch.delayed)),
        ]
        return rows.map { $0.0 + String(repeating: " ", count: Self.indent - $0.0.count) + $0.1 }.joined(separator: "\n")
    }

    /// In JSON the lost part has a number of its own.
    var state: String { batch.lostParts > 0 ? "part lost" : batch.state.rawValue }

    /// `61 % of 1000`.
    var progress: String {
        guard let part = batch.progress else { return "nothing was accepted" }
        // Rounded down: all of it is all of it.
        return "\(Int(part * 100)) % of \(batch.total)"
    }

    private var headerNames: [String] { batch.options.headers.lines.map(\.name) }

    private var wants: String {
        if batch.options.refresh { return "fetches that began after it" }
        return batch.options.maximumAge.map { "outcomes at most \(Amounts.time($0)) old" } ?? "outcomes that are fresh"
    }

    var json: JSONValue {
        .object([("schema", 1), ("queue", .string(queue))] + Batch.fields.members(of: batch))
    }

    /// The totals in one line.
    var outcome: String {
        var parts = ["\(batch.done) of \(Amounts.count(batch.total, "URL")) done", "\(batch.failed - batch.disallowed) failed"]
        if batch.disallowed > 0 { parts.append(Amounts.notPermitted(batch.disallowed)) }
        if batch.cancelled > 0 { parts.append("\(batch.cancelled) cancelled") }
        return parts.joined(separator: ", ")
    }

    /// The reason why the numbers are too low, and advice.
    var complaint: String? { Self.complaint(of: batch) }

    static func complaint(of batch: Batch) -> String? {
        guard batch.lostParts > 0 else { return nil }
        let partitions = "\(Amounts.count(batch.lostParts, "partition")) of the queue \(batch.lostParts == 1 ? "knows" : "know")"
        return "\(partitions) the batch no more. Their server lost data, or had too many batches. The numbers are those of the "
            + "others."
            + (batch.input == .cancelled ? "" : " Enqueue the same list under the same name: what was fetched is not fetched again.")
    }

    /// The exit status of a command that waited for the batch.
    var status: ExitStatus {
        batch.lostParts > 0 ? .unavailable : batch.failed - batch.disallowed + batch.cancelled == 0 ? .done : .someFailed
    }
}

extension Keeping {
    fileprivate var words: String {
        switch self {
        case .bodies: "bodies until they are exported"
        case .wire: "requests and answers as they went over the wire, until they are exported"
        case .cache: "bodies until they have to make room"
        }
    }
}

extension Manners {
    /// For a sentence about a batch.
    var words: String {
        let robots = obeys ? "obeys" : "ignores"
        switch optOuts {
        case .heed: return "\(robots) robots.txt, heeds opt-outs"
        case .ignore: return "\(robots) robots.txt, ignores opt-outs"
        case .record: return "\(robots) robots.txt, records opt-outs"
        }
    }
}
