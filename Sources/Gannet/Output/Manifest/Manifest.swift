package import ClusterState
internal import GannetBasics

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `manifest.jsonl`: a line for each row of a run's input, in its order, that says what became of it. It appears when it is complete; until then
/// the one before it stays.
package final class Manifest: Sendable {
    private struct State {
        let writer: ManifestFile
        var reader: JournalReader
        var totals = ManifestTotals()
    }

    static let name = "manifest.jsonl"

    private let folder: RecordedFolder
    private let headers: RequestHeaders
    private let state: Mutex<State>

    /// - Parameter headers: With which the rows' URLs were asked for.
    package init(in folder: RecordedFolder, headers: RequestHeaders = .none) throws(OutputFailure) {
        self.folder = folder
        self.headers = headers
        state = Mutex(State(writer: try ManifestFile(in: folder.folder), reader: folder.journal.reader()))
    }

    /// Adds rows, which are the next in the input.
    package func add(_ rows: [ManifestRow]) async throws(OutputFailure) {
        try await OwnedThread.run(name: "gannet-folder") { () throws(OutputFailure) in
            try self.state.withLock { state throws(OutputFailure) in
                for row in rows { try self.add(row, &state) }
            }
        }
    }

    /// Puts the manifest in its place.
    package func finish() async throws(OutputFailure) -> ManifestTotals {
        try await OwnedThread.run(name: "gannet-folder") { () throws(OutputFailure) in
            try self.state.withLock { state throws(OutputFailure) in
                try state.writer.finish(as: self.folder.manifestPath)
                return state.totals
            }
        }
    }

    private func add(_ row: ManifestRow, _ state: inout State) throws(OutputFailure) {
        let end = try end(of: row, &state)
        switch end.outcome {
        case .fetched:
            state.totals.fetched += 1
            state.totals.bytes += end.record?.bytes ?? 0
        case .there: state.totals.there += 1
        case .repeated: state.totals.repeated += 1
        case .failed: state.totals.noteFailure(end.errorClass)
        case .invalid: state.totals.invalid += 1
        }
        try state.writer.write(row.line(end))
    }

    private func end(of row: ManifestRow, _ state: inout State) throws(OutputFailure) -> RowEnd {
        guard case .url(let bytes) = row.content else { return RowEnd(.invalid) }
        let id: URLID
        do {
            id = try JobEntry(row: bytes, headers: headers).id
        } catch {
            return RowEnd(.invalid, message: "\(error)")
        }
        guard let entry = folder.journal[id], entry.marks.contains(.listed) else {
            throw OutputFailure(
                "The input has changed while its URLs were fetched; run the command again for a manifest of what it is now.")
        }
        let isKnown = entry.marks.contains(.current) || entry.marks.contains(.sound) && !entry.marks.contains(.queued)
        guard isKnown, let record = try state.reader.record(at: entry.offset) else { return RowEnd(.failed) }
        if record.isFailed { return RowEnd(.failed, record) }
        guard !entry.marks.contains(.told) else { return RowEnd(.repeated, record) }
        try folder.journal.mark(id, .told)
        return RowEnd(entry.marks.contains(.current) ? .fetched : .there, record)
    }
}
