internal import Archives
internal import ClusterState
internal import GannetBasics
internal import HTTPEngine

/// Packs the bodies of a run into shards, in the order of its list. Docs/ARCHIVES.md says what the files are.
///
/// A body is a file of the folder until the shard that has it is on the disk. So a kill costs no fetch: what is in no shard yet is packed by
/// the next run. A URL is one sample, with the columns of the first row that has it.
package final class ShardPacking: Sendable {
    private struct Packed {
        let record: JobRecord
        /// The path of the body's own file within the folder.
        let file: String
    }

    private let folder: RecordedFolder
    private let writer: ShardWriter
    /// The samples of the open shard.
    private let gathered: Mutex<[URLID: Packed]> = Mutex([:])

    /// Completes what a killed run has left.
    /// - Parameter samples: The most samples of a shard.
    package static func open(_ folder: RecordedFolder, samples: Int) async throws -> ShardPacking {
        try await OwnedThread.run(name: "gannet-shards") { try ShardPacking(folder, samples) }
    }

    private init(_ folder: RecordedFolder, _ samples: Int) throws {
        self.folder = folder
        var options = ShardOptions()
        options.samplesPerShard = samples
        let path = folder.folder.path
        writer = try StorageFailure.ofArchives { try ShardWriter(folder: path, options: options) }
        try recordLast()
    }

    /// A run may have been killed between the end of a shard and the last of its records. Only the last shard can lack some.
    private func recordLast() throws {
        let path = folder.folder.path
        guard let last = try StorageFailure.ofArchives({ try ShardWriter.shards(in: path).last }) else { return }
        let shard = ShardWriter.file(ofShard: last)
        var reader = folder.journal.reader()
        var packed: [Packed] = []
        for sample in try StorageFailure.ofArchives({ try ShardWriter.samples(inShard: last, of: path) }) {
            guard let bytes = [UInt8](hexadecimal: sample.key.utf8), let id = URLID(bytes),
                var record = try folder.record(of: id, &reader), !record.isFailed, SamplePlace(record.file) == nil
            else { continue }
            let file = record.file
            record.file = SamplePlace(shard: shard, name: sample.names[0]).text
            packed.append(Packed(record: record, file: file))
        }
        try settle(packed)
    }

    /// The end of a row, with the place of its sample where it has a body.
    func placed(_ end: RowEnd, of row: ManifestRow) throws -> RowEnd {
        guard end.hasBody, let record = end.record, SamplePlace(record.file) == nil else { return end }
        return try gathered.withLock { gathered in
            if let known = gathered[record.id] { return RowEnd(end.outcome, known.record) }
            let key = record.id.bytes.hexadecimal
            let path = "\(folder.folder.path)/\(record.file)"
            let ending = BodyEnding.of(path, contentType: record.contentType)
            let sample = ShardSample(
                key: key,
                parts: [
                    .init(ending, .file(path: path, count: record.bytes)),
                    .init("json", .bytes(row.sample(end, key: key))),
                ])
            let place = try StorageFailure.ofArchives { try writer.add(sample) }
            var packed = record
            packed.file = SamplePlace(shard: place.file, name: "\(key).\(ending)").text
            gathered[record.id] = Packed(record: packed, file: record.file)
            if place.isComplete {
                try settle(gathered.values)
                gathered = [:]
            }
            return RowEnd(end.outcome, packed)
        }
    }

    /// Completes the last shard. Nothing can be placed afterwards.
    func finish() throws {
        try gathered.withLock { gathered in
            _ = try StorageFailure.ofArchives { try writer.close() }
            try settle(gathered.values)
            gathered = [:]
        }
        folder.folder.removeEmptyFolders()
    }

    /// Notes that samples are in a complete shard, and removes the files of their bodies.
    ///
    /// The files go first. After a kill in between, the next run finds in the shard itself what has no record yet.
    private func settle(_ packed: some Collection<Packed>) throws {
        guard !packed.isEmpty else { return }
        for sample in packed { folder.folder.remove(sample.file) }
        for sample in packed { _ = try folder.journal.append(sample.record) }
        // Before the next shard is complete: only the last one is looked at.
        try folder.journal.flush()
    }
}
