internal import GannetBase
internal import GannetHTTP
package import GannetQueue

extension BatchExport {
    /// Writes the manifest: a line for each URL, in the order in which the first of its jobs ended.
    package func writeManifest() async throws -> ExportTotals {
        let manifest = try ExportManifest(folder, packing)
        try await addEnds(to: manifest)
        return try await OwnedThread.run(name: "gannet-folder") { try manifest.finish() }
    }

    /// Writes the manifest: a line for each row of the list that was enqueued, in its order.
    /// - Parameters:
    ///   - rows: The next rows; `nil` at the end of the list.
    ///   - identify: Returns the id of a row's URL, or throws why the row is not a URL.
    package func writeManifest(
        of rows: () async throws -> [ManifestRow]?, identify: @escaping @Sendable (ArraySlice<UInt8>) throws -> URLID
    ) async throws -> ExportTotals {
        let manifest = try ExportManifest(
            folder, packing, ofList: identify, isCancelled: batch.batch.cancelled > 0, isComplete: batch.batch.isComplete)
        try await addEnds(to: manifest)
        while let some = try await rows() { try await OwnedThread.run(name: "gannet-folder") { try manifest.add(some) } }
        try FinishedBatch.checkCancellation()
        return try await OwnedThread.run(name: "gannet-folder") { try manifest.finish() }
    }

    private func addEnds(to manifest: ExportManifest) async throws {
        var (place, counting) = (0, FinishedBatch.Counting())
        while place < batch.count {
            let part = try await batch.part(from: place)
            let rows = part.ids.enumerated().filter { counting.counts($1, in: part) }.map { (place: part.place + $0 + 1, id: $1) }
            try await OwnedThread.run(name: "gannet-folder") { try manifest.add(rows) }
            place += part.jobs.count
        }
        try FinishedBatch.checkCancellation()
    }
}

/// The URLs of an exported batch, counted by their outcomes. Each URL is one of the first four.
package struct ExportTotals: Sendable, Equatable {
    /// Bodies that this export wrote.
    package var written = 0
    /// Bodies that were in the folder.
    package var there = 0
    /// URLs without a body that their sites had permitted.
    package var failed = 0

    /// URLs that their sites did not permit.
    package var disallowed = 0
    /// Failed URLs whose body was evicted.
    package var evicted = 0
    /// Failed URLs whose body is in a worker's folder.
    package var elsewhere = 0
    /// Failed URLs that Redis has forgotten.
    package var forgotten = 0
    /// Ended jobs beyond the first of their URL.
    package var repeated = 0
    /// The size of the written bodies.
    package var bytes = 0
    /// The rows of the list that the manifest follows, if there is one. The other figures count URLs of the batch all the same.
    package var list: List?

    package struct List: Sendable, Equatable {
        package var rows = 0
        /// Rows whose URLs are not among the batch's ended ones.
        package var absent = 0
        package var invalid = 0
    }

    package var rows: Int { written + there + failed + disallowed }

    package init() {}

    fileprivate mutating func note(_ outcome: RowEnd.Outcome, _ record: JobRecord) {
        switch outcome {
        case .fetched:
            written += 1
            bytes += record.bytes
        case .there: there += 1
        default:
            guard record.errorClass != FailureCounts.disallowed else {
                disallowed += 1
                return
            }
            failed += 1
            switch ExportLoss(rawValue: record.errorClass) {
            case .evicted: evicted += 1
            case .elsewhere: elsewhere += 1
            case .forgotten: forgotten += 1
            case nil: break
            }
        }
    }
}

/// The manifest of an export, made from the folder's record.
private final class ExportManifest: Sendable {
    private struct State {
        let writer: ManifestFile
        var reader: JournalReader
        var totals = ExportTotals()
    }

    private static let absent = "absent"

    private let folder: RecordedFolder
    private let packing: BodyPacking?
    private let state: Mutex<State>
    /// For the manifest of a list. Ended jobs are then counted, and have no lines of their own.
    private let identify: (@Sendable (ArraySlice<UInt8>) throws -> URLID)?
    /// Some jobs of the batch were cancelled. The list of ended jobs is without these.
    private let isCancelled: Bool
    /// All jobs of the batch have ended.
    private let isComplete: Bool

    init(
        _ folder: RecordedFolder, _ packing: BodyPacking?, ofList identify: (@Sendable (ArraySlice<UInt8>) throws -> URLID)? = nil,
        isCancelled: Bool = false, isComplete: Bool = true
    ) throws {
        (self.isCancelled, self.isComplete) = (isCancelled, isComplete)
        self.folder = folder
        self.packing = packing
        self.identify = identify
        state = Mutex(State(writer: try ManifestFile(in: folder.folder), reader: folder.journal.reader()))
        if identify != nil { state.withLock { $0.totals.list = ExportTotals.List() } }
    }

    /// Adds the URLs of the next ended jobs, each URL once. Blocks.
    func add(_ rows: [(place: Int, id: URLID)]) throws {
        try state.withLock { state in
            for row in rows { try add(row.id, row.place, &state) }
        }
    }

    /// Adds the next rows of the list. Blocks.
    func add(_ rows: [ManifestRow]) throws {
        try state.withLock { state in
            for row in rows {
                let end = try end(of: row, &state)
                state.totals.list?.rows += 1
                if end.outcome == .invalid { state.totals.list?.invalid += 1 }
                if end.errorClass == Self.absent { state.totals.list?.absent += 1 }
                try state.writer.write(row.line(try packing?.placed(end, of: row) ?? end))
            }
        }
    }

    private func end(of row: ManifestRow, _ state: inout State) throws -> RowEnd {
        guard case .url(let bytes) = row.content, let identify else { return RowEnd(.invalid) }
        let id: URLID
        do { id = try identify(bytes) } catch { return RowEnd(.invalid, message: "\(error)") }
        guard let entry = folder.journal[id], entry.marks.contains(.told), let record = try folder.record(of: id, &state.reader) else {
            if !isComplete { return RowEnd(.pending, message: "No job of this URL has ended so far.") }
            if isCancelled { return RowEnd(.failed, message: "The job of this URL was cancelled or deleted.", lossClass: "cancelled") }
            return RowEnd(.failed, message: "The batch has no ended job for this URL.", lossClass: Self.absent)
        }
        if record.isFailed { return RowEnd(.failed, record) }
        guard !entry.marks.contains(.shown) else { return RowEnd(.repeated, record) }
        try folder.journal.mark(id, .shown)
        return RowEnd(entry.marks.contains(.sound) ? .there : .fetched, record)
    }

    /// Replaces the earlier manifest. Blocks.
    func finish() throws -> ExportTotals {
        try state.withLock { state in
            try packing?.finish()
            try state.writer.finish(as: folder.manifestPath)
            return state.totals
        }
    }

    private func add(_ id: URLID, _ place: Int, _ state: inout State) throws {
        guard let entry = folder.journal[id], let record = try folder.record(of: id, &state.reader) else {
            throw StorageFailure("The record of the folder \(folder.displayPath) was changed while it was in use. Run the command again.")
        }
        guard !entry.marks.contains(.told) else {
            state.totals.repeated += 1
            return
        }
        try folder.journal.mark(id, .told)
        let outcome: RowEnd.Outcome = record.isFailed ? .failed : entry.marks.contains(.sound) ? .there : .fetched
        state.totals.note(outcome, record)
        if identify != nil { return }
        let url = record.url.isEmpty ? ManifestRow.Content.unknown : .url(Array(record.url.utf8)[...])
        let row = ManifestRow(.finished(place), url)
        let end = RowEnd(outcome, record)
        try state.writer.write(row.line(try packing?.placed(end, of: row) ?? end))
    }
}
