package import ClusterState
internal import HTTPEngine

/// The bodies of a batch's URLs, out of wherever they are kept and into a folder.
///
/// First what is kept anywhere is taken (``collect()``), then what is not may be fetched again (``refetch(through:concurrency:hostLimit:)``): a body that is
/// fetched makes room for itself in Redis, and would do so at the cost of those that are still to be taken. In the end the manifest is written
/// (``writeManifest()``). What is there stands in the folder's record, as with a run: an export that is killed goes on where it stopped.
package final class BatchExport: Sendable {
    let walk: FinishedWalk
    let folder: RecordedFolder
    let source: ExportSource
    /// What is not kept is fetched afterwards, so it is no failure yet.
    let refetches: Bool
    let report: @Sendable (WorkerReport) -> Void

    /// The bodies of a batch on their way to a folder; to be closed.
    /// - Parameter store: The folder of the batch's workers, where they have one.
    package convenience init(
        _ batch: FinishedBatch, of cluster: ClusterState, into folder: RecordedFolder, store: BodyFolder?, refetches: Bool,
        patience: Duration, report: @escaping @Sendable (WorkerReport) -> Void
    ) async throws(StateError) {
        let connection = try await cluster.connect(patience: ClusterState.bodyPatience)
        let source = ExportSource(connection, namespace: cluster.namespace, folder: store, patience: patience)
        self.init(batch.walk, into: folder, from: source, refetches: refetches, report: report)
    }

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

    package func close() async { await source.close() }

    /// Notes a body that is in the folder already. Blocks.
    /// - Parameter known: What the record says as yet.
    func noteThere(_ record: JobRecord, known: JobRecord?) throws(OutputFailure) {
        if record != known { _ = try folder.journal.append(record) }
        try folder.journal.mark(record.id, .sound)
        report(.cached(JobLabel(record.id, url: record.url), file: record.file))
    }

    /// Notes a URL without a body. Blocks.
    func noteFailed(_ record: JobRecord, known: JobRecord?) throws(OutputFailure) {
        if record != known { _ = try folder.journal.append(record) }
        report(.failed(JobLabel(record.id, url: record.url), sentence: record.errorMessage, errorClass: record.errorClass))
    }

    /// Notes a URL whose body is to be had by fetching it again. Blocks.
    func noteLost(_ record: JobRecord, known: JobRecord?) throws(OutputFailure) {
        guard refetches else { return try noteFailed(record, known: known) }
        if record != known { _ = try folder.journal.append(record) }
        try folder.journal.mark(record.id, .broken)
    }

    /// Writes a body to its place. Blocks.
    func write(_ bytes: [UInt8], _ body: WantedBody) throws(OutputFailure) {
        let written = bytes.withUnsafeBytes { bytes in
            Result { () throws(OutputFailure) in
                try OutputFailure.storing { () throws(StorageFailure) in
                    let file = try BodyFile(in: folder.folder.path)
                    try file.write(bytes)
                    return try file.keep()
                }
            }
        }
        try place(written.get(), body)
    }

    /// Gives a body that is written its name, and notes that it is there. Blocks.
    func place(_ file: String, _ body: WantedBody) throws(OutputFailure) {
        let name = try folder.folder.place(file, of: body.content.url, id: body.id)
        _ = try folder.journal.append(body.record(file: name))
        report(.fetched(JobLabel(body.id, url: body.content.url), bytes: body.content.size, file: name))
    }
}
