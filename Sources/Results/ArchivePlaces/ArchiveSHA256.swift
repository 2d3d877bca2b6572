internal import GannetBase
internal import GannetHTTP

/// The digests of an archive's records.
struct ArchiveSHA256: ArchiveHasher {
    private let hasher = SHA256Hasher()

    mutating func update(_ bytes: UnsafeRawBufferPointer) { hasher.update(bytes) }
    mutating func finish() -> [UInt8] { hasher.finish().bytes }
}
