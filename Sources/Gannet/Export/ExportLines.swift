internal import ClusterState
internal import GannetBasics

/// The lines of a batch's manifest, out of what the folder's record says of its URLs.
final class ExportLines: Sendable {
    private struct State {
        let writer: ManifestFile
        var reader: JournalReader
        var totals = ExportTotals()
    }

    private let folder: RecordedFolder
    private let state: Mutex<State>

    init(_ folder: RecordedFolder) throws(OutputFailure) {
        self.folder = folder
        state = Mutex(State(writer: try ManifestFile(in: folder.folder), reader: folder.journal.reader()))
    }

    /// Adds URLs whose jobs are the next that ended; one that was added before is passed over. Blocks.
    func add(_ ids: [URLID], from first: Int) throws(OutputFailure) {
        try state.withLock { state throws(OutputFailure) in
            for (index, id) in ids.enumerated() { try add(id, first + index, &state) }
        }
    }

    /// Puts the manifest in its place. Blocks.
    func finish() throws(OutputFailure) -> ExportTotals {
        try state.withLock { state throws(OutputFailure) in
            try state.writer.finish(as: folder.manifestPath)
            return state.totals
        }
    }

    private func add(_ id: URLID, _ place: Int, _ state: inout State) throws(OutputFailure) {
        guard let entry = folder.journal[id], let record = try folder.record(of: id, &state.reader) else {
            throw OutputFailure("The record of the folder \(folder.displayPath) was changed while it was in use. Run the command again.")
        }
        guard !entry.marks.contains(.told) else {
            state.totals.repeated += 1
            return
        }
        try folder.journal.mark(id, .told)
        let outcome: RowEnd.Outcome = record.isFailed ? .failed : entry.marks.contains(.sound) ? .there : .fetched
        state.totals.note(outcome, record)
        let url = record.url.isEmpty ? ManifestRow.Content.unknown : .url(Array(record.url.utf8)[...])
        try state.writer.write(ManifestRow(.finished(place), url).line(RowEnd(outcome, record)))
    }
}

extension ExportTotals {
    fileprivate mutating func note(_ outcome: RowEnd.Outcome, _ record: JobRecord) {
        switch outcome {
        case .fetched:
            written += 1
            bytes += record.bytes
        case .there: there += 1
        default:
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
