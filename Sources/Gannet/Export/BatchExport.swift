internal import ClusterState
internal import HTTPEngine
internal import Threads

/// The bodies of a batch's URLs, out of wherever they are kept and into a folder.
///
/// First what is kept anywhere is taken (``collect()``), then what is not may be fetched again (``refetch(through:concurrency:hostLimit:)``): a body that is
/// fetched makes room for itself in Redis, and would do so at the cost of those that are still to be taken. In the end the manifest is written
/// (``writeManifest()``). What is there stands in the folder's record, as with a run: an export that is killed goes on where it stopped.
package final class BatchExport: Sendable {
    let walk: FinishedWalk
    let folder: RecordedFolder
    let source: ExportSource
    let report: @Sendable (WorkerReport) -> Void
    /// What is not kept is fetched afterwards, so it is no failure yet.
    let refetches: Bool

    private struct State {
        /// Of bodies that are not kept, those that a worker has put into a folder.
        var inFolders = 0
    }

    private let state = Mutex(State())

    init(
        _ walk: FinishedWalk, into folder: RecordedFolder, from source: ExportSource, refetches: Bool,
        report: @escaping @Sendable (WorkerReport) -> Void
    ) {
        self.walk = walk
        self.folder = folder
        self.source = source
        self.refetches = refetches
        self.report = report
    }

    /// Bodies that are not here because a worker has put them into a folder that was not named.
    package var inFolders: Int { state.withLock { $0.inFolders } }

    package func close() async { await source.close() }

    func note(_ end: RecordedEnd, _ record: JobRecord) throws(OutputFailure) {
        switch end {
        case .same: try folder.journal.mark(record.id, .sound)
        case .there:
            _ = try folder.journal.append(record)
            try folder.journal.mark(record.id, .sound)
        case .new: _ = try folder.journal.append(record)
        case .missing:
            _ = try folder.journal.append(record)
            try folder.journal.mark(record.id, .broken)
        }
    }

    /// What the folder's record is told of a URL.
    enum RecordedEnd {
        /// It says so already.
        case same
        /// It did not know, but the body is there.
        case there
        case new
        /// There is no body, but it may be had again.
        case missing
    }

    /// Tells of a URL whose body cannot be had.
    func tell(_ record: JobRecord) {
        report(
            .failed(url: RedactedURL(record.url).description, sentence: record.errorMessage, errorClass: record.errorClass))
    }

    func noteInFolder() { state.withLock { $0.inFolders += 1 } }
}
