internal import GannetBase
internal import GannetHTTP
package import GannetQueue
internal import GannetRedisClient
package import Lists

/// Copies the bodies of a batch's URLs into a folder.
///
/// First it copies all bodies that are kept anywhere (``collect()``). Only then are lost bodies fetched again
/// (``refetch(concurrency:by:)``): a fetched body takes room in Redis, and would evict bodies that are still to be copied. At the end
/// ``writeManifest()`` writes the manifest. As in a run, the folder's record lists the finished URLs, so an export that was killed continues
/// where it stopped.
package final class BatchExport: Sendable {
    let batch: FinishedBatch
    let folder: RecordedFolder
    /// The folders of the batch's workers.
    let workerFolders: [BodyFolder]
    let redis: BlobStore
    /// The export has a connection of its own, because a large body delays other calls.
    private let connection: RedisConnection
    let persistently: Persistence
    let gate = LargeBodyGate()
    /// Packs the bodies; nil where they stay files.
    let packing: BodyPacking?
    /// Whether lost bodies are fetched again later, so that they are not reported as failures yet.
    let refetches: Bool
    let report: @Sendable (JobRecord, RememberedFailure?) -> Void
    private let withoutExchanges = Mutex(0)

    /// - Parameters:
    ///   - packing: Packs the bodies; nil where they stay files.
    ///   - stores: The folders of the batch's workers, which are asked before Redis.
    ///   - refetches: Whether ``refetch(concurrency:by:)`` will be called.
    ///   - patience: How long a call waits for a Redis that is away.
    ///   - report: Called with the end of every URL, from any thread. The second value is the failure of an earlier fetch, where a lost body was not
    ///     fetched again because of it.
    package init(
        _ batch: FinishedBatch, of cluster: ClusterState, into folder: RecordedFolder, packing: BodyPacking? = nil, stores: [BodyFolder],
        refetches: Bool, patience: Duration, report: @escaping @Sendable (JobRecord, RememberedFailure?) -> Void
    ) async throws(StateError) {
        connection = try await cluster.connect(patience: ClusterState.bodyPatience)
        persistently = cluster.persistently(over: connection, patience: patience)
        redis = BlobStore(cluster, over: connection)
        workerFolders = stores
        self.batch = batch
        self.folder = folder
        self.packing = packing
        self.refetches = refetches
        self.report = report
    }

    /// URLs of a batch with kept exchanges that have none any more.
    package var countWithoutExchanges: Int { withoutExchanges.withLock { $0 } }

    func noteWithoutExchanges() { withoutExchanges.withLock { $0 += 1 } }

    package func close() async { await connection.close() }

    /// Records a body that is in the folder. Blocks.
    /// - Parameter known: The current record.
    func noteThere(_ record: JobRecord, known: JobRecord?) throws {
        var record = record
        record.lastDigest = known?.lastDigest
        if let known, known.digest == record.digest { record.typeMismatch = known.typeMismatch }
        if record != known { _ = try folder.journal.append(record) }
        try folder.journal.mark(record.id, .sound)
        record.outcome = .there
        report(record, nil)
    }

    /// Records a URL without a body. Blocks.
    func noteFailed(_ record: JobRecord, known: JobRecord?, remembered: RememberedFailure? = nil) throws {
        var record = record
        // Its exchanges are in an archive.
        if let known, known.isFailed, known.isPacked { record.file = known.file }
        if record != known { _ = try folder.journal.append(record) }
        report(record, remembered)
    }

    /// Records a URL whose body is lost, and can be fetched again. Blocks.
    func noteLost(_ record: JobRecord, known: JobRecord?) throws {
        guard refetches else { return try noteFailed(record, known: known) }
        if record != known { _ = try folder.journal.append(record) }
        try folder.journal.mark(record.id, .broken)
    }

    /// Writes a body to its place. Blocks.
    func write(_ bytes: [UInt8], _ body: WantedBody) throws { try place(folder.folder.newFile(of: bytes), body) }

    private func noteTaken(_ failure: StorageFailure, _ body: WantedBody) throws {
        let error = FetchError(kind: .storage, url: body.content.url, detail: failure.sentence)
        var record = JobRecord(exported: body.id, url: body.content.url, error.className, error.description)
        record.milliseconds = Int(body.duration / .milliseconds(1))
        try noteFailed(record, known: nil)
    }

    /// Moves a written body to its place and records it. Blocks.
    func place(_ file: String, _ body: WantedBody) throws {
        let name: String
        do {
            name = try folder.folder.place(file, of: body.content.url, id: body.id)
        } catch let failure as StorageFailure where failure.isPlaceTaken {
            return try noteTaken(failure, body)
        }
        if packing != nil, let fetched = body.fetched { folder.folder.set(fetched, of: name) }
        var record = body.record(file: name)
        let clause = BodyKind.falsePicture(ofFile: "\(folder.folder.path)/\(name)", servedAs: body.content.fields[.contentType])
        record.typeMismatch = clause ?? ""
        try folder.append(record)
        report(record, nil)
    }
}

/// Fetching lost bodies again.
extension BatchExport {
    /// How a lost body was fetched again: status, content type and error, and the body where there is one. A failure of an earlier fetch that is
    /// remembered stands for a request.
    package typealias Refetch = (content: OutcomeContent, body: [UInt8]?, duration: Duration, remembered: RememberedFailure?)

    /// Fetches every lost body.
    /// - Parameter fetch: Fetches one URL. An error ends the export: the fetch of any other URL would fail as well.
    package func refetch(concurrency: Int, by fetch: @escaping @Sendable (String) async throws -> Refetch) async throws {
        try await batch.forEach(1, width: concurrency, where: folder.wantsAgain) { ended in
            let outcomes = try await self.batch.outcomes(ended)
            for (id, outcome) in zip(ended.ids, outcomes) {
                let found = try await OwnedThread.run(name: "gannet-folder") { try self.folder.journal.record(of: id) }
                guard let known = found else { continue }
                try await self.gate.withRoom(for: known.bytes) {
                    // The record holds the URL without its password.
                    try await self.note(try await fetch(outcome?.content.url ?? known.url), of: known)
                }
            }
        }
        try folder.rethrow()
    }

    private func note(_ fetched: Refetch, of known: JobRecord) async throws {
        try await OwnedThread.run(name: "gannet-folder") {
            var content = fetched.content
            guard let body = fetched.body else {
                var record = JobRecord(exported: known.id, .failed, content, duration: fetched.duration)
                (record.digest, record.bytes) = (known.digest, known.bytes)
                return try self.noteFailed(record, known: known, remembered: fetched.remembered)
            }
            let digest = SHA256Digest(of: body).bytes
            content.size = body.count
            content.digest = digest
            try self.write(body, WantedBody(id: known.id, content: content, digest: digest, duration: fetched.duration))
        }
    }
}

/// The manifest of an export.
extension BatchExport {
    /// Writes the manifest: a line for each URL, in the order in which the first of its jobs ended. Where there is a list, the manifest has a line
    /// for each of its rows instead, in its order.
    /// - Parameters:
    ///   - rows: The next rows of the list that was enqueued; `nil` at its end.
    ///   - identify: Returns the id of a row's URL, or throws why the row is not a URL.
    package func writeManifest(
        of rows: (() async throws -> [Row]?)? = nil, identify: (@Sendable (ArraySlice<UInt8>) throws -> URLID)? = nil
    ) async throws -> (urls: ManifestTotals, list: ManifestTotals?) {
        let work = Manifest.Work.batch(isCancelled: batch.batch.cancelled > 0, isComplete: batch.batch.isComplete)
        let manifest = try Manifest(in: folder, of: work, packing: packing, identify: identify)
        try await batch.forEachPart { _, counted in try await manifest.add(ended: counted.map { (place: $0.place + 1, id: $0.job.id) }) }
        if let rows { while let some = try await rows() { try await manifest.add(some) } }
        try FinishedBatch.checkCancellation()
        let totals = try await manifest.finish()
        return (manifest.ended, rows == nil ? nil : totals)
    }
}

/// A body for the folder, as the outcome of its URL describes it.
struct WantedBody: Sendable {
    let id: URLID
    let content: OutcomeContent
    let digest: [UInt8]
    /// How long the fetch of the body took.
    let duration: Duration
    /// When it was fetched; nil for this moment.
    var fetched: Date?

    /// The record of the body, once it is a file of the folder.
    func record(file: String) -> JobRecord {
        var content = content
        content.fields[.file] = file
        var record = JobRecord(exported: id, .fetched, content, duration: duration)
        record.fetchedAt = fetched.map { Int(($0.timeIntervalSince1970 * 1000).rounded()) } ?? 0
        return record
    }
}
