internal import GannetBase
internal import GannetHTTP
package import GannetQueue
package import Lists

/// `manifest.jsonl`: one line for each row of a list, in the same order, with the row's outcome, or one for each URL of an exported batch. A
/// complete manifest replaces the earlier one. That of a run which did not come to its end says of each other row that it is pending, or has
/// failed.
package final class Manifest: Sendable {
    /// Whose URLs the lines are about.
    package enum Work: Sendable {
        case run
        /// A run that did not come to its end, and why it has left rows. They are failures where nobody is going to fetch them.
        case unfinishedRun(reason: String, isFailure: Bool = false)
        /// A batch whose ended jobs are told (``add(ended:)``), all of which have ended if it is complete.
        case batch(isCancelled: Bool, isComplete: Bool)
    }

    /// The digest that the body of a row has to have; nil for any, and empty where none fits.
    package typealias Expected = (algorithm: ExpectedDigests.Algorithm, of: @Sendable (Row) -> [UInt8]?)

    private struct State {
        /// Gets its name when it is complete. Nil once it is discarded.
        var file: BodyFile?
        var buffer: [UInt8] = []
        var totals = ManifestTotals()
        var ended = ManifestTotals()
    }

    static let name = "manifest.jsonl"
    static let abandoned = "abandoned"
    private static let unfinished = "unfinished"
    private static let bufferSize = 256 * 1024

    /// The classes of rows that a run has left, and of those whose jobs ended without a fetch.
    package static let classesWithoutRecord = [unfinished, abandoned]

    private let folder: RecordedFolder
    private let work: Work
    private let packing: BodyPacking?
    private let identify: (@Sendable (ArraySlice<UInt8>) throws -> URLID)?
    private let expected: Expected?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - packing: Packs the bodies of the rows.
    ///   - expected: The digests of the list; nil where it names none.
    ///   - identify: Returns the id of a row's URL, or throws why the row is not a URL. Nil where the ended jobs of a batch are the rows.
    package init(
        in folder: RecordedFolder, of work: Work = .run, packing: BodyPacking? = nil, expected: Expected? = nil,
        identify: (@Sendable (ArraySlice<UInt8>) throws -> URLID)?
    ) throws {
        self.folder = folder
        self.work = work
        self.packing = packing
        self.identify = identify
        self.expected = expected
        state = Mutex(State(file: try BodyFile(in: folder.folder.path, .ordinary)))
    }

    /// Adds the next rows of the list.
    package func add(_ rows: [Row]) async throws {
        try await withState { state in
            for row in rows { try self.write(self.line(of: row), &state) }
        }
    }

    /// Adds the next ended jobs of the batch with their places. Each URL counts once. Without a list it has its line here.
    func add(ended jobs: [(place: Int, id: URLID)]) async throws {
        try await withState { state in
            for job in jobs { try self.add(job.id, endedAt: job.place, &state) }
        }
    }

    /// Removes what was written of a manifest that is not to be completed. Its thread may hold it a moment longer than its owner.
    package func discard() { state.withLock { $0.file = nil } }

    /// The URLs of the batch's ended jobs so far.
    package var ended: ManifestTotals { state.withLock { $0.ended } }

    /// Completes the manifest, which replaces the earlier one.
    package func finish() async throws -> ManifestTotals {
        try await withState { state in
            try self.packing?.finish()
            try Self.flush(&state)
            if let file = state.file { try self.folder.folder.publish(try file.keep(), as: self.folder.manifestPath) }
            return state.totals
        }
    }

    private func withState<Value: Sendable>(_ body: @escaping @Sendable (inout State) throws -> Value) async throws -> Value {
        try await OwnedThread.run(name: "gannet-folder") { try self.state.withLock { try body(&$0) } }
    }

    private func write(_ line: ManifestLine, _ state: inout State) throws {
        var line = withOtherBody(line) ?? line
        try packing?.place(&line)
        state.totals.note(line, countsHost: true)
        state.buffer += line.bytes
        if state.buffer.count >= Self.bufferSize { try Self.flush(&state) }
    }

    /// The line of a row that names another body than its URL has: an earlier run or another row has fetched that.
    private func withOtherBody(_ line: ManifestLine) -> ManifestLine? {
        guard let expected, line.hasBody, let record = line.record, let wanted = expected.of(line.row),
            let found = digest(of: record, expected.algorithm), wanted != found
        else {
            return nil
        }
        let name = expected.algorithm.rawValue
        let told = wanted.isEmpty ? "names no \(name)" : "says \(wanted.hexadecimal)"
        return ManifestLine(
            line.row, .failed, because: VerifiedBodies.errorClass,
            "The body of its URL has the \(name) \(found.hexadecimal), and the row \(told).")
    }

    /// Nil where nothing tells it: the MD5 of a packed body, or of one that became a picture, which a run without `md5` has fetched.
    private func digest(of record: JobRecord, _ algorithm: ExpectedDigests.Algorithm) -> [UInt8]? {
        if algorithm == .sha256 { return record.digest }
        if let md5 = record.md5 { return md5 }
        let isFile = !record.file.isEmpty && !record.isPacked && record.picture == nil
        return isFile ? MD5.digest(ofFile: "\(folder.folder.path)/\(record.file)") : nil
    }

    private static func flush(_ state: inout State) throws {
        try state.file?.write(state.buffer)
        state.buffer.removeAll(keepingCapacity: true)
    }

    // MARK: Lines

    private func line(of row: Row) throws -> ManifestLine {
        guard let identify else { preconditionFailure("Only the manifest of a list gets rows.") }
        let id: URLID
        switch row.content {
        case .invalid(let problem): return ManifestLine(row, .invalid, because: "invalid", problem.description)
        case .url(let bytes):
            do { id = try identify(bytes) } catch { return ManifestLine(row, .invalid, because: "invalid", "\(error)") }
        }
        let entry = folder.journal[id]
        let marks = entry?.marks ?? []
        let record = try folder.journal.record(entry)
        switch work {
        case .unfinishedRun(let reason, let isFailure): return try line(of: row, id, marks, record, leftBecause: reason, isFailure)
        case .batch(let isCancelled, let isComplete):
            guard marks.contains(.told), let record else {
                if !isComplete { return ManifestLine(row, .pending, because: "pending", "No job of this URL has ended so far.") }
                return isCancelled
                    ? ManifestLine(row, .failed, because: "cancelled", "The job of this URL was cancelled or deleted.")
                    : ManifestLine(row, .failed, because: "absent", "The batch has no ended job for this URL.")
            }
            if record.isFailed { return ManifestLine(row, .failed, record) }
            guard !marks.contains(.shown) else { return ManifestLine(row, .repeated, record) }
            try folder.journal.mark(id, .shown)
            return ManifestLine(row, marks.contains(.sound) ? .there : .fetched, record)
        case .run:
            if case .failed = folder.demand, !marks.contains(.queued) {
                return try line(of: row, id, marks, record, leftBecause: "The run was for URLs that had failed with another class.", false)
            }
            guard marks.contains(.listed) else {
                throw StorageFailure(
                    "The input has changed while its URLs were fetched. Run the command again for a manifest of the new input.")
            }
            let isKnown = marks.contains(.current) || marks.contains(.sound) && !marks.contains(.queued)
            if isKnown, let record { return try line(of: row, id, marks, record) }
            let ends =
                "Its host was unreachable for too long, it was cancelled or deleted, its URL failed for another queue, or three workers died with it."
            return ManifestLine(row, .failed, because: Self.abandoned, "The job ended without a fetch by this run. \(ends)")
        }
    }

    /// The line of a row that a run has fetched, or found in the folder.
    private func line(of row: Row, _ id: URLID, _ marks: URLTable.Marks, _ record: JobRecord) throws -> ManifestLine {
        let isCurrent = marks.contains(.current)
        if record.isFailed || record.isUnfit || isCurrent && record.staleness != nil { return ManifestLine(row, .failed, record) }
        guard !marks.contains(.told) else { return ManifestLine(row, .repeated, record, isNew: isCurrent) }
        try folder.journal.mark(id, .told)
        return ManifestLine(row, !isCurrent ? .there : record.checkedAt > 0 ? .revalidated : .fetched, record)
    }

    /// The line of a row in a run that did not come to its end: what an earlier run has fetched is there, as far as is known.
    private func line(
        of row: Row, _ id: URLID, _ marks: URLTable.Marks, _ record: JobRecord?, leftBecause reason: String, _ isFailure: Bool
    ) throws -> ManifestLine {
        func left(_ more: String = "") -> ManifestLine {
            let sentence = reason + (folder.news(of: id).map { " " + $0 } ?? more)
            return isFailure
                ? ManifestLine(row, .failed, because: Self.unfinished, sentence)
                : ManifestLine(row, .pending, because: "pending", sentence)
        }
        guard let record else { return left() }
        if marks.contains(.current) { return try line(of: row, id, marks, record) }
        if record.isFailed {
            if case .failed = folder.demand, !marks.contains(.queued) { return ManifestLine(row, .failed, record) }
            return left(" In an earlier run it failed: \(record.errorMessage)")
        }
        let isWanted = !marks.isDisjoint(with: [.queued, .broken]) || folder.demand == .fresh
        if !isWanted { return try line(of: row, id, marks, record) }
        // A run that asks again for bodies takes none away by its end.
        guard folder.demand.asksAgain, !record.isUnfit, folder.isThere(record) else { return left() }
        return ManifestLine(row, .there, record, isNew: nil)
    }

    private func add(_ id: URLID, endedAt place: Int, _ state: inout State) throws {
        guard let entry = folder.journal[id], let record = try folder.journal.record(entry) else {
            throw StorageFailure("The record of the folder \(folder.displayPath) was changed while it was in use. Run the command again.")
        }
        let isRepeated = entry.marks.contains(.told)
        if !isRepeated { try folder.journal.mark(id, .told) }
        let row = Row(.finished(place), .url(Array(record.url.utf8)[...]))
        let outcome: JobRecord.Outcome = record.isFailed ? .failed : entry.marks.contains(.sound) ? .there : .fetched
        let line = ManifestLine(row, isRepeated ? .repeated : outcome, record)
        state.ended.note(line)
        if identify == nil, !isRepeated { try write(line, &state) }
    }
}

/// The rows of a list, or the URLs of a batch, counted by their outcomes.
package struct ManifestTotals: Sendable, Equatable {
    private var counts: [JobRecord.Outcome: Int] = [:]
    /// Rows whose URLs their sites did not permit. They are no failures.
    package private(set) var disallowed = 0
    /// Failed rows by error class, and by host, for a bounded number of each.
    package private(set) var classes: [String: Int] = [:]
    package private(set) var hosts: [String: Int] = [:]
    /// The size of the bodies that were fetched or written.
    package private(set) var bytes = 0
    /// Bodies that were served as pictures and are none.
    package private(set) var mismatches = 0

    /// More than there are statuses.
    private static let mostClasses = 1000
    private static let mostHosts = 10_000

    package init() {}

    package subscript(outcome: JobRecord.Outcome) -> Int { counts[outcome] ?? 0 }

    package var rows: Int { counts.values.reduce(disallowed, +) }

    fileprivate mutating func note(_ line: ManifestLine, countsHost: Bool = false) {
        guard !line.isDisallowed else {
            disallowed += 1
            return
        }
        counts[line.outcome, default: 0] += 1
        if line.outcome == .fetched { bytes += line.record?.bytes ?? 0 }
        if line.outcome != .repeated, line.hasBody, line.record?.typeMismatch.isEmpty == false { mismatches += 1 }
        guard line.outcome == .failed, let errorClass = line.error?.errorClass else { return }
        if classes[errorClass] != nil || classes.count < Self.mostClasses { classes[errorClass, default: 0] += 1 }
        guard countsHost, let host = line.row.url.flatMap({ try? CanonicalURL($0) })?.host else { return }
        if hosts[host] != nil || hosts.count < Self.mostHosts { hosts[host, default: 0] += 1 }
    }
}

// MARK: Manifests that were written

extension Manifest {
    /// The outcomes, in the order in which they are told.
    package static let outcomes = ["fetched", "revalidated", "cached", "failed", FailureCounts.disallowed, "pending", "invalid"]

    private static let noLine = Array(#"{"line":null,"#.utf8)

    /// The rows of a manifest's file, and how many have each outcome.
    package static func count(ofFile path: String) throws -> (rows: Int, outcomes: [String: Int]) {
        var reader = LineReader(try LineFile(path))
        var (rows, counts) = (0, [String: Int]())
        func note(_ line: UnsafeRawBufferPointer) {
            rows += 1
            let values = JSONText.values(ofObject: line)
            // Behind the number of the line and the URL. An argument's number has a member of its own.
            let place = line.starts(with: noLine) ? 3 : 2
            guard values.indices.contains(place) else { return }
            let word = line[values[place]].dropFirst().dropLast()
            // A file that another program has written may have any words.
            if let name = outcomes.first(where: { word.elementsEqual($0.utf8) }) { counts[name, default: 0] += 1 }
        }
        // Of a long line the beginning is enough: only a URL is before the outcome.
        while try reader.next({ note($1) }, head: note) {}
        return (rows, counts)
    }

    private static let tableName = "manifest.parquet"

    /// Replaces `manifest.parquet`, once it is whole. The file of a killed writer is swept like a half-written body.
    /// - Parameter write: Gets the path of the manifest, and a descriptor of an empty file.
    package static func replaceTable(in folder: RecordedFolder, by write: (String, Int32) async throws -> Void) async throws {
        let file = try BodyFile(in: folder.folder.path, .ordinary)
        let output = open(file.path, O_WRONLY | O_CLOEXEC)
        guard output >= 0 else { throw StorageFailure.refused("file", file.path, "written") }
        defer { close(output) }
        try await write(folder.manifestPath, output)
        try folder.folder.publish(file.keep(), as: "\(folder.folder.path)/\(tableName)")
    }
}
