internal import GannetBase
internal import GannetHTTP
package import GannetQueue

/// `manifest.jsonl`: one line for each row of a run's input, in the same order, with the row's outcome. A complete manifest replaces the
/// earlier one. That of a run which did not come to its end says of each other row that it is pending, or has failed.
package final class Manifest: Sendable {
    private struct State {
        let writer: ManifestFile
        var reader: JournalReader
        var totals = ManifestTotals()
    }

    static let name = "manifest.jsonl"

    /// The classes of rows that a run has left, and of those whose jobs ended without a fetch.
    package static let classesWithoutRecord = ["unfinished", RowEnd.abandoned]

    private let folder: RecordedFolder
    private let packing: BodyPacking?
    private let unfinished: Unfinished?
    private let identify: @Sendable (ArraySlice<UInt8>) throws -> URLID
    private let state: Mutex<State>

    /// - Parameters:
    ///   - packing: Packs the bodies of the rows.
    ///   - unfinished: Of a run that did not come to its end.
    ///   - identify: Returns the id of a row's URL, or throws why the row is not a URL.
    package init(
        in folder: RecordedFolder, packing: BodyPacking? = nil, unfinished: Unfinished? = nil,
        identify: @escaping @Sendable (ArraySlice<UInt8>) throws -> URLID
    ) throws {
        self.folder = folder
        self.packing = packing
        self.unfinished = unfinished
        self.identify = identify
        state = Mutex(State(writer: try ManifestFile(in: folder.folder), reader: folder.journal.reader()))
    }

    /// How rows count that a run has left.
    package struct Unfinished: Sendable {
        /// Why the run has left them.
        let reason: String
        /// Nobody is going to fetch them.
        let isFailure: Bool

        package init(_ reason: String, isFailure: Bool = false) {
            self.reason = reason
            self.isFailure = isFailure
        }

        /// Of a run that was for failures of one class.
        fileprivate static let unchosen = Unfinished("The run was for URLs that had failed with another class.")

        fileprivate func end(_ more: String = "") -> RowEnd {
            RowEnd(isFailure ? .failed : .pending, message: reason + more, lossClass: "unfinished")
        }
    }

    /// Adds the next rows of the input.
    package func add(_ rows: [ManifestRow]) async throws {
        try await OwnedThread.run(name: "gannet-folder") {
            try self.state.withLock { state in
                for row in rows { try self.add(row, &state) }
            }
        }
    }

    /// Removes what was written of a manifest that is not to be completed. Its thread may hold it a moment longer than its owner.
    package func discard() { state.withLock { $0.writer.discard() } }

    /// Completes the manifest, which replaces the earlier one.
    package func finish() async throws -> ManifestTotals {
        try await OwnedThread.run(name: "gannet-folder") {
            try self.state.withLock { state in
                try self.packing?.finish()
                try state.writer.finish(as: self.folder.manifestPath)
                return state.totals
            }
        }
    }

    private func add(_ row: ManifestRow, _ state: inout State) throws {
        var end = try end(of: row, &state)
        if let packing { end = try packing.placed(end, of: row) }
        switch end.outcome {
        case .fetched:
            state.totals.fetched += 1
            state.totals.bytes += end.record?.bytes ?? 0
        case .revalidated: state.totals.revalidated += 1
        case .there, .kept: state.totals.there += 1
        case .repeated: state.totals.repeated += 1
        case .failed: state.totals.noteFailure(end.errorClass, of: row.url)
        case .pending: state.totals.pending += 1
        case .invalid: state.totals.invalid += 1
        }
        try state.writer.write(row.line(end))
    }

    private func end(of row: ManifestRow, _ state: inout State) throws -> RowEnd {
        guard case .url(let bytes) = row.content else { return RowEnd(.invalid) }
        let id: URLID
        do { id = try identify(bytes) } catch { return RowEnd(.invalid, message: "\(error)") }
        if let unfinished { return try end(of: id, unfinished, &state) }
        if case .failed = folder.demand, folder.journal[id]?.marks.contains(.queued) != true {
            return try end(of: id, .unchosen, &state)
        }
        guard let entry = folder.journal[id], entry.marks.contains(.listed) else {
            throw StorageFailure(
                "The input has changed while its URLs were fetched. Run the command again for a manifest of the new input.")
        }
        let isKnown = entry.marks.contains(.current) || entry.marks.contains(.sound) && !entry.marks.contains(.queued)
        guard isKnown, let record = try state.reader.record(at: entry.offset) else { return RowEnd(.failed) }
        return try end(of: id, entry, record)
    }

    private func end(of id: URLID, _ entry: URLTable.Entry, _ record: JobRecord) throws -> RowEnd {
        if record.isFailed || record.isUnfit { return RowEnd(.failed, record) }
        let isCurrent = entry.marks.contains(.current)
        if isCurrent, record.staleness != nil { return RowEnd(.failed, record) }
        guard !entry.marks.contains(.told) else { return RowEnd(.repeated, record, isNew: isCurrent) }
        try folder.journal.mark(id, .told)
        return RowEnd(!isCurrent ? .there : record.checkedAt > 0 ? .revalidated : .fetched, record)
    }

    /// The end of a row in a run that did not come to its end: what an earlier run has fetched is there, as far as is known.
    private func end(of id: URLID, _ unfinished: Unfinished, _ state: inout State) throws -> RowEnd {
        guard let entry = folder.journal[id], entry.offset > 0, let record = try state.reader.record(at: entry.offset) else {
            return unfinished.end()
        }
        if entry.marks.contains(.current) { return try end(of: id, entry, record) }
        if record.isFailed {
            if case .failed = folder.demand, !entry.marks.contains(.queued) { return RowEnd(.failed, record) }
            return unfinished.end(" In an earlier run it failed: \(record.errorMessage)")
        }
        let isWanted = entry.marks.contains(.queued) || entry.marks.contains(.broken) || folder.demand == .fresh
        if !isWanted { return try end(of: id, entry, record) }
        // A run that asks again for bodies takes none away by its end.
        guard folder.demand.asksAgain, !record.isUnfit, folder.isThere(record) else { return unfinished.end() }
        return RowEnd(.kept, record)
    }
}

/// The rows of a run's input, counted by their outcomes.
package struct ManifestTotals: Sendable, Equatable {
    /// Rows whose URLs this run fetched.
    package var fetched = 0
    /// Rows whose URLs an earlier run fetched, and of which the origin said that they have not changed.
    package var revalidated = 0
    /// Rows whose URLs an earlier run fetched.
    package var there = 0
    /// Rows with the URL of an earlier row.
    package var repeated = 0
    package var failed = 0
    /// Rows whose URLs their sites did not permit. They are no failures.
    package var disallowed = 0
    /// Failed rows by error class, for a bounded number of classes.
    package private(set) var classes: [String: Int] = [:]
    /// Failed rows by host, for a bounded number of hosts.
    package private(set) var hosts: [String: Int] = [:]
    package var invalid = 0
    /// Rows that an early end of the run has left.
    package var pending = 0
    /// The size of the bodies that this run fetched.
    package var bytes = 0

    package var rows: Int { fetched + revalidated + there + repeated + failed + disallowed + invalid + pending }

    private static let mostClasses = 200
    private static let mostHosts = 10_000

    package init() {}

    package mutating func noteFailure(_ errorClass: String, of url: String? = nil) {
        guard errorClass != FailureCounts.disallowed else {
            disallowed += 1
            return
        }
        failed += 1
        if classes[errorClass] != nil || classes.count < Self.mostClasses { classes[errorClass, default: 0] += 1 }
        guard let host = url.flatMap({ try? CanonicalURL($0) })?.hostName else { return }
        if hosts[host] != nil || hosts.count < Self.mostHosts { hosts[host, default: 0] += 1 }
    }
}

/// A manifest that is being written. It gets its name when it is complete.
final class ManifestFile {
    /// Nil once it is discarded.
    private var file: BodyFile?
    private let folder: BodyFolder
    private var buffer: [UInt8] = []

    private static let batch = 256 * 1024

    init(in folder: BodyFolder) throws {
        self.folder = folder
        file = try BodyFile(in: folder.path, .ordinary)
    }

    func write(_ line: [UInt8]) throws {
        buffer += line
        if buffer.count >= Self.batch { try flush() }
    }

    /// - Parameter path: A file that is there is replaced.
    func finish(as path: String) throws {
        try flush()
        guard let file else { return }
        let written = try file.keep()
        try folder.publish(written, as: path)
    }

    func discard() { file = nil }

    private func flush() throws {
        try buffer.withUnsafeBytes { try file?.write($0) }
        buffer.removeAll(keepingCapacity: true)
    }
}
