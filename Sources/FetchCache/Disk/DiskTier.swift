package import HTTPEngine

/// Records on disk, by key: what was fetched, for this process after a restart and for others that share the folder.
///
/// Whatever happens to the folder, a read brings a record as it was written, every byte checked, or nothing; a write that fails is a
/// miss later on. See ``BoundedFolder`` for what a file goes through.
package final class DiskTier: Sendable {
    let folder: BoundedFolder
    let options: DiskTierOptions

    private static let kind = ".record"

    /// The records in the folder at `path`, which is made when the first is written. Others may use it as well.
    package init(
        _ path: String, _ options: DiskTierOptions = DiskTierOptions(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws(InvalidOptions) {
        try options.validate()
        self.options = options
        folder = try BoundedFolder(path, kind: Self.kind, options.folder, now: now)
    }

    /// The record of a key; nil when there is none, when it cannot be read, and when the task is cancelled.
    package func read(_ key: DiskKey) async -> DiskRecord? {
        let outcome = await folder.threads.run(.reads) { [self] caller in
            folder.read(name(of: key)) { (file) throws(StorageFailure) in try readRecord(key, in: file, for: caller) }
        }
        switch outcome {
        case .done(let record): return record
        case .refused: folder.note { $0.failedReads += 1 }
        case .left: break
        }
        return nil
    }

    /// Keeps a record under a key, in the stead of what was there.
    ///
    /// It is dropped, and `crowded` thrown, when too much waits to be written.
    package func write(_ key: DiskKey, metadata: [UInt8], body: [UInt8]) async throws(StoreFailure) {
        guard metadata.count <= options.maximumMetadata, body.count <= folder.options.largestFile else { throw .tooLarge }
        try await folder.write(bytes: metadata.count + body.count, mayBeDropped: true) { [self] (caller) throws(StoreFailure) in
            try writeRecord(key, metadata, body, SHA256Digest(of: body), for: caller)
        }
    }

    /// Changes what is known of a body, as after an origin confirmed it. A large body is not written again.
    /// - Parameter bodyDigest: The body that `metadata` is about: another one that came meanwhile keeps its own.
    /// - Returns: Whether the record, with this body, was there.
    package func updateMetadata(_ key: DiskKey, _ metadata: [UInt8], ofBody bodyDigest: SHA256Digest) async throws(StoreFailure) -> Bool {
        guard metadata.count <= options.maximumMetadata else { throw .tooLarge }
        return try await folder.write(bytes: metadata.count, mayBeDropped: true) { [self] (caller) throws(StoreFailure) in
            try update(key, metadata, bodyDigest, for: caller)
        }
    }

    /// Removes the record of a key; false when there is none.
    @discardableResult
    package func remove(_ key: DiskKey) async throws(StoreFailure) -> Bool {
        try await folder.removing { [folder, name = name(of: key)] () throws(StorageFailure) in try folder.remove(name) }
    }

    /// Removes all records, those of other processes included. What is written meanwhile may stay.
    package func removeAll() async throws(StoreFailure) { try await folder.removeAll() }

    /// How much there is: an estimate.
    package var usage: FolderUsage { folder.usage }

    /// Looks at all of the folder to say how much there is.
    package func countedUsage() async -> FolderUsage { await folder.countedUsage() }

    /// What has become of reads and writes.
    package var counts: FolderCounts { folder.counts }

    func name(of key: DiskKey) -> EntryName { EntryName(key.bytes, kind: Self.kind) }
}
