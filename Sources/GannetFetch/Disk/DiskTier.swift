package import GannetHTTP

/// Records on disk, by key: fetched answers, for this process after a restart and for others that share the folder.
///
/// A read returns a record as it was written, with every byte checked, or nothing. A write that fails is a miss later on. `BoundedFolder`
/// describes how files are written.
package final class DiskTier: Sendable {
    let folder: BoundedFolder
    let options: DiskTierOptions

    /// Opens the folder at `path`, which is made by the first write. Other processes may use it too.
    package init(
        _ path: String, _ options: DiskTierOptions = DiskTierOptions(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws(InvalidOptions) {
        try options.validate()
        self.options = options
        folder = BoundedFolder(path, options, now: now)
    }

    /// The record of a key. Nil when there is none, when it cannot be read, and when the task is cancelled.
    package func read(_ key: DiskKey) async -> DiskRecord? {
        let outcome = await folder.threads.run(.reads) { [self] caller in
            folder.read(name(of: key)) { file in try readRecord(key, in: file, for: caller) }
        }
        switch outcome {
        case .done(let record): return record
        case .refused: folder.note { $0.failedReads += 1 }
        case .left: break
        }
        return nil
    }

    /// Keeps a record under a key, and replaces the former one.
    ///
    /// Throws a failure that is `crowded` when too many writes wait. The record is then dropped.
    package func write(_ key: DiskKey, metadata: [UInt8], body: [UInt8]) async throws {
        guard metadata.count <= options.maximumMetadata, body.count <= options.largestFile else { throw StorageFailure(.tooLarge) }
        try await folder.write(bytes: metadata.count + body.count) { [self] caller in
            try writeRecord(key, metadata, body, SHA256Digest(of: body), for: caller)
        }
    }

    /// Replaces the metadata of a body, for example after its origin confirmed it. A large body is not written again.
    /// - Parameter bodyDigest: The body that `metadata` is about. Another body that came meanwhile keeps its own metadata.
    /// - Returns: Whether the record was there with this body.
    package func updateMetadata(_ key: DiskKey, _ metadata: [UInt8], ofBody bodyDigest: SHA256Digest) async throws -> Bool {
        guard metadata.count <= options.maximumMetadata else { throw StorageFailure(.tooLarge) }
        return try await folder.write(bytes: metadata.count) { [self] caller in try update(key, metadata, bodyDigest, for: caller) }
    }

    /// Removes the record of a key; false when there is none.
    @discardableResult
    package func remove(_ key: DiskKey) async throws -> Bool {
        try await folder.removing { [folder, name = name(of: key)] in try folder.remove(name) }
    }

    /// Removes all records, including those of other processes. Records that are written meanwhile may stay.
    package func removeAll() async throws { try await folder.removeAll() }

    /// An estimate.
    package var usage: FolderUsage { folder.usage }

    /// Counts all files of the folder first.
    package func countedUsage() async -> FolderUsage { await folder.countedUsage() }

    package var counts: FolderCounts { folder.counts }

    func name(of key: DiskKey) -> EntryName { EntryName(key.bytes) }
}

/// The key of a record: 16 to 64 bytes, such as a hash of a URL. The first byte chooses the folder, so it should be evenly distributed.
package struct DiskKey: Sendable, Hashable {
    package let bytes: [UInt8]

    package static let sizes = 16...64

    /// Nil for any other number of bytes.
    package init?(_ bytes: [UInt8]) {
        guard Self.sizes.contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}

/// A body, and a small text of bytes that describes it.
package struct DiskRecord: Sendable, Hashable {
    package var metadata: [UInt8]
    package var body: [UInt8]
    package var bodyDigest: SHA256Digest
}
