internal import ClusterState
internal import GannetBasics
internal import HTTPEngine

extension BatchExport {
    /// Writes the manifest: a line for each URL, in the order in which the first of its jobs ended.
    package func writeManifest() async throws -> ExportTotals {
        let manifest = try ExportManifest(folder, packing)
        var (place, counting) = (0, FinishedBatch.Counting())
        while place < batch.count {
            let part = try await batch.part(from: place)
            let rows = part.ids.enumerated().filter { counting.counts($1, in: part) }.map { (place: part.place + $0 + 1, id: $1) }
            try await OwnedThread.run(name: "gannet-folder") { try manifest.add(rows) }
            place += part.jobs.count
        }
        try FinishedBatch.checkCancellation()
        return try await OwnedThread.run(name: "gannet-folder") { try manifest.finish() }
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

    private let folder: RecordedFolder
    private let packing: BodyPacking?
    private let state: Mutex<State>

    init(_ folder: RecordedFolder, _ packing: BodyPacking?) throws {
        self.folder = folder
        self.packing = packing
        state = Mutex(State(writer: try ManifestFile(in: folder.folder), reader: folder.journal.reader()))
    }

    /// Adds the URLs of the next ended jobs, each URL once. Blocks.
    func add(_ rows: [(place: Int, id: URLID)]) throws {
        try state.withLock { state in
            for row in rows { try add(row.id, row.place, &state) }
        }
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
        let url = record.url.isEmpty ? ManifestRow.Content.unknown : .url(Array(record.url.utf8)[...])
        let row = ManifestRow(.finished(place), url)
        var end = RowEnd(outcome, record)
        if let packing { end = try packing.placed(end, of: row) }
        try state.writer.write(row.line(end))
    }
}
