import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import Lists
import Results

/// The result of a run: its rows, counted by how they ended.
struct RunSummary: Sendable {
    let totals: ManifestTotals
    /// This run's own.
    let time: Duration
    /// Rows of a refresh that ended early: their bodies are there, and nobody asked whether they still hold.
    var notAsked = 0

    var text: String {
        var parts = ["\(Amounts.count(totals[.fetched], "URL")) fetched"]
        if totals[.revalidated] > 0 { parts.append("\(totals[.revalidated]) unchanged") }
        if totals[.there] > notAsked { parts.append("\(totals[.there] - notAsked) there already") }
        if notAsked > 0 { parts.append("\(notAsked) not asked again") }
        parts.append("\(totals[.failed]) failed" + (classes.isEmpty ? "" : " (\(classes))"))
        if totals.disallowed > 0 { parts.append(Amounts.notPermitted(totals.disallowed)) }
        if totals[.repeated] > 0 { parts.append("\(totals[.repeated]) listed more than once") }
        if totals[.invalid] > 0 { parts.append("\(totals[.invalid]) invalid") }
        if totals[.pending] > 0 { parts.append("\(totals[.pending]) not fetched yet") }
        // The progress counts different URLs. Here each row counts, also one whose URL was listed before.
        let rows = totals.rows > totals[.fetched] + totals[.revalidated] + totals[.there] ? "\(Amounts.count(totals.rows, "row")), " : ""
        return parts.joined(separator: ", ") + "; \(rows)\(Amounts.bytes(totals.bytes)) in \(Amounts.time(time))"
    }

    /// Where the failures are listed.
    var reference: String {
        if totals[.failed] + totals[.invalid] > 0 { return "; manifest.jsonl there lists the failures, with reasons\(hosts)\(advice)" }
        return totals.disallowed > 0 ? "; manifest.jsonl there names the rules" : ""
    }

    /// Another value of an option would have helped.
    private var advice: String { totals.classes["too-large"] == nil ? "" : ". '--max-body' permits larger bodies" }

    /// `no-such-host 900, http-404 80, timeout 7, and 2 of other classes`.
    private var classes: String {
        let sorted = totals.classes.sorted { ($0.value, $1.key) > ($1.value, $0.key) }
        let told = sorted.prefix(Self.mostClasses)
        let rest = totals[.failed] - told.reduce(0) { $0 + $1.value }
        return (told.map { "\(ClassCounts.shown($0.key)) \($0.value)" } + (rest > 0 ? ["and \(rest) of other classes"] : [])).joined(
            separator: ", ")
    }

    /// `. Most failures: a.example 900, b.example 80`, where more than one host has some.
    private var hosts: String {
        guard totals.hosts.count > 1 else { return "" }
        let sorted = totals.hosts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(Self.mostHosts)
        let rest = totals.hosts.count - sorted.count
        let others = rest > 0 ? ["and some at \(Amounts.count(rest, "other host"))"] : []
        let told = sorted.map { "\($0.key.escapedForDisplay) \($0.value)" } + others
        return ". Most failures: " + told.joined(separator: ", ")
    }

    private static let mostClasses = 5
    private static let mostHosts = 10

    /// The names are a contract. Each row is counted once, so that the numbers add up.
    var json: JSONValue {
        [
            "summary": [
                "rows": .integer(totals.rows),
                "done": .integer(totals[.fetched] + totals[.revalidated] + totals[.there] + totals[.repeated]),
                "fetched": .integer(totals[.fetched]), "revalidated": .integer(totals[.revalidated]),
                "cached": .integer(totals[.there] + totals[.repeated]),
                "failed": .integer(totals[.failed]), "disallowed": .integer(totals.disallowed), "invalid": .integer(totals[.invalid]),
                "bytes": .integer(totals.bytes),
                "durationMilliseconds": .integer(Int(time / .milliseconds(1))),
                "pending": .integer(totals[.pending]), "notAsked": .integer(notAsked),
            ]
        ]
    }
}

/// Writes a run's manifest: its input row by row, with the outcome of each.
struct RunManifest: Sendable {
    let folder: RecordedFolder
    /// Nil where bodies stay files, or are in archives.
    let packing: BodyPacking?
    var work = Manifest.Work.run

    func write(of run: Run) async throws -> ManifestTotals {
        let headers = run.options.submission.headers
        let expected: Manifest.Expected? = run.options.verify.map { verify in (verify.algorithm, { verify.digest(in: $0) }) }
        let manifest = try Manifest(in: folder, of: work, packing: packing, expected: expected) { row in
            try JobEntry(row: row, headers: headers).id
        }
        do {
            var rows = try run.input.again()
            while let batch = try await rows.next() { try await manifest.add(batch) }
            return try await manifest.finish()
        } catch {
            manifest.discard()
            throw error
        }
    }

    /// Prints the manifest that was written, and an object with the totals behind it. A reader that leaves early is no error.
    static func print(_ path: String, then totals: JSONValue, last status: ExitStatus, _ console: Console) throws -> ExitStatus {
        do {
            try print(path, console)
        } catch let failure as CommandFailure where failure == .outputClosed {
            return status
        }
        return try console.print(totals.text, last: status)
    }

    private static func print(_ path: String, _ console: Console) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        var offset = 0
        while true {
            let read = buffer.withUnsafeMutableBytes { Descriptor.read(into: $0, from: descriptor, at: offset) }
            guard let count = read else { throw unreadable(path) }
            if count == 0 { return }
            try console.print(bytes: Array(buffer[..<count]))
            offset += count
        }
    }

    private static func unreadable(_ path: String) -> CommandFailure {
        CommandFailure(.cannotWrite, "The file \(Sentence.quoted(path)) cannot be read: \(Descriptor.message(errno)).")
    }
}
