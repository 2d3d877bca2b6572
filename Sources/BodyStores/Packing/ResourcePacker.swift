internal import Archives
internal import ClusterState
internal import GannetBasics
internal import HTTPEngine

/// Packs bodies into archives, as records without an exchange (`resource`). The file of a body has the time of its fetch.
final class ResourcePacker: BodyPacker {
    private let folder: BodyFolder
    private let writer: WARCWriter
    private let unflushed = Mutex(0)

    private static let prefix = "gannet"
    /// A flush takes as long for one record as for many.
    private static let batch = 1000

    init(into folder: BodyFolder, size: Int) throws {
        self.folder = folder
        var options = WARCOptions()
        options.fileSize = size
        writer = try StorageFailure.ofArchives {
            _ = try WARCWriter.recover(folder.path, prefix: Self.prefix)
            return try WARCWriter(folder: folder.path, prefix: Self.prefix, options: options, makeHasher: { ArchiveSHA256() })
        }
    }

    /// A body without a record has its file still, and is packed again: readers take the two records for two captures.
    func unrecorded() -> [(id: URLID, place: String)] { [] }

    func pack(_ end: RowEnd, _ record: JobRecord, of row: ManifestRow) throws -> (place: String, isDurable: Bool) {
        var resource = WARCResource(
            url: record.url, date: folder.time(of: record.file) ?? Date(),
            contentType: record.contentType.isEmpty ? nil : record.contentType,
            body: .file(path: "\(folder.path)/\(record.file)", count: record.bytes))
        resource.payloadDigest = record.digest
        return try StorageFailure.ofArchives {
            let place = try writer.write(resource)
            let isDurable = unflushed.withLock { count in
                count = (count + 1) % Self.batch
                return count == 0
            }
            if isDurable { try writer.flush() }
            return (ArchivePlace(file: place.file, offset: place.offset).text, isDurable)
        }
    }

    func finish() throws { try StorageFailure.ofArchives { try writer.close() } }
}
