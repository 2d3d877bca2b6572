package import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Bodies by their SHA-256 in a folder, which may be a volume that many processes and machines share. Whatever happens to it, a body that
/// is read is the one whose digest was asked for.
package final class BlobFolder: Sendable {
    let folder: BoundedFolder

    /// The blobs in the folder at `path`, which is made when the first is put there.
    package init(
        _ path: String, _ options: FolderOptions = FolderOptions(), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws(InvalidOptions) {
        folder = try BoundedFolder(path, kind: "", options, now: now)
    }

    /// Stores the bytes unless they are there; returns their digest. Waits where others are written first.
    @discardableResult
    package func put(_ bytes: [UInt8]) async throws(StoreFailure) -> SHA256Digest {
        guard bytes.count <= folder.options.largestFile else { throw .tooLarge }
        return try await folder.write(bytes: bytes.count, mayBeDropped: false) { [folder] (caller) throws(StoreFailure) in
            let digest = SHA256Digest(of: bytes)
            guard !folder.noteUse(of: Self.name(of: digest), size: bytes.count) else { return digest }
            try folder.store(Self.name(of: digest), size: bytes.count) { (file) throws(StoreFailure) in
                try file.write(bytes, for: caller)
            }
            return digest
        }
    }

    /// Takes over a finished file, which has to be its caller's own: it is moved here, or copied and removed where it is on another file
    /// system. Where that fails it stays where it is.
    /// - Parameter digest: That of the file's bytes. A file that is moved is not read for it: whoever gets the blob does that.
    package func put(contentsOf path: String, digest: SHA256Digest) async throws(StoreFailure) {
        try await folder.write(bytes: 0, mayBeDropped: false) { [folder] (caller) throws(StoreFailure) in
            try folder.take(path, as: Self.name(of: digest), digest, for: caller)
        }
    }

    /// The bytes of a digest. Nil when they are not there, cannot be read, or are not what they should be, and when the task is cancelled.
    package func get(_ digest: SHA256Digest) async -> [UInt8]? {
        await reading { [folder] caller in
            folder.read(Self.name(of: digest)) { (file) throws(StorageFailure) in
                guard file.size <= folder.options.maximumFile else { return .useless }
                guard let bytes = try file.bytes(file.size, at: 0, for: caller) else { return caller.isGone ? .useless : .damaged }
                return SHA256Digest(of: bytes) == digest ? .good(bytes) : .damaged
            }
        }
    }

    /// Copies the bytes of a digest to a temporary file in a folder of the caller's, whose it is then; returns its path. Nil as for ``get(_:)``.
    package func get(_ digest: SHA256Digest, asFileIn target: String) async throws(StoreFailure) -> String? {
        let result = await reading { [folder] caller in
            folder.read(Self.name(of: digest)) { (file) throws(StorageFailure) -> BoundedFolder.Reading<Result<String, StorageFailure>> in
                do throws(StorageFailure) {
                    let copy = try BodyFile(in: target)
                    switch file.copy(to: copy, for: caller) {
                    case .whole(digest): return .good(.success(try copy.keep()))
                    case .whole: return .damaged
                    case .unwritable(let failure): throw failure
                    case .unreadable: return .useless
                    case .left: return .useless
                    }
                } catch {
                    return .good(.failure(error))
                }
            }
        }
        return try result?.mapError { StoreFailure.system($0) }.get()
    }

    /// Whether the bytes of a digest are there, in whatever state; that somebody wants to know counts as a use.
    package func contains(_ digest: SHA256Digest) async -> Bool {
        await reading { [folder] _ in folder.noteUse(of: Self.name(of: digest), size: nil) ? true : nil } ?? false
    }

    /// Removes the bytes of a digest; false when they are not there.
    @discardableResult
    package func remove(_ digest: SHA256Digest) async throws(StoreFailure) -> Bool {
        try await folder.removing { [folder] () throws(StorageFailure) in try folder.remove(Self.name(of: digest)) }
    }

    /// How much there is: an estimate.
    package var usage: FolderUsage { folder.usage }

    /// Looks at all of the folder to say how much there is.
    package func countedUsage() async -> FolderUsage { await folder.countedUsage() }

    /// What has become of reads and writes.
    package var counts: FolderCounts { folder.counts }

    private static func name(of digest: SHA256Digest) -> EntryName { EntryName(digest.bytes, kind: "") }

    /// Reads wait, however many there are: a caller that needs a blob has nothing better to do.
    private func reading<Value: Sendable>(_ body: @escaping @Sendable (FileThreads.Caller) -> Value?) async -> Value? {
        guard case .done(let value) = await folder.threads.run(.reads, mayBeRefused: false, body) else { return nil }
        return value
    }
}
