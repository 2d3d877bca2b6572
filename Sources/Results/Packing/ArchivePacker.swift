internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// Packs bodies into archives: with their exchanges where the folder has these, and otherwise as records without one (`resource`). The file of
/// a body has the time of its fetch.
final class ArchivePacker: BodyPacker {
    private let folder: BodyFolder
    private let writer: WARCWriter
    private let unflushed = Mutex(0)

    private static let prefix = "gannet"
    /// A flush takes as long for one record as for many.
    private static let batch = 1000

    init(into folder: BodyFolder, size: Int, information: [(name: String, value: String)]) throws {
        self.folder = folder
        var options = WARCOptions()
        options.fileSize = size
        options.information += information
        // A file that is gone takes no rows of other files with it.
        options.revisitsEarlierFiles = false
        writer = try StorageFailure.ofArchives {
            _ = try WARCWriter.recover(folder.path, prefix: Self.prefix)
            return try WARCWriter(folder: folder.path, prefix: Self.prefix, options: options, makeHasher: { ArchiveSHA256() })
        }
    }

    var takesExchanges: Bool { true }

    /// A body without a record has its file still, and is packed again: readers take the two records for two captures.
    func unrecorded() -> [(id: URLID, place: String)] { [] }

    func pack(_ record: JobRecord, of line: ManifestLine) throws -> (text: String, isDurable: Bool)? {
        guard let place = try written(record) else { return nil }
        let isDurable = unflushed.withLock { count in
            count = (count + 1) % Self.batch
            return count == 0
        }
        if isDurable { try StorageFailure.ofArchives { try writer.flush() } }
        return (place.text, isDurable)
    }

    func finish() throws { try StorageFailure.ofArchives { try writer.close() } }

    private func written(_ record: JobRecord) throws -> ArchivePlace? {
        let body = ArchiveContent.file(path: "\(folder.path)/\(record.file)", count: record.bytes)
        if let kept = folder.exchanges(of: record.id), record.isFailed || kept.body == record.digest {
            do {
                let downloaded = record.isFailed ? nil : record.digest.map { (body, $0) }
                if let place = try writer.write(kept.exchanges, downloaded: downloaded) { return place }
            } catch ArchiveError.unfit {
                // The exchanges break the rules of HTTP. The body alone can be had.
            } catch let error as ArchiveError {
                throw StorageFailure(error)
            }
        }
        if record.isFailed { return nil }
        var resource = WARCResource(
            url: record.url, date: folder.time(of: record.file) ?? Date(),
            contentType: record.contentType.isEmpty ? nil : record.contentType, body: body)
        resource.payloadDigest = record.digest
        return try StorageFailure.ofArchives {
            let place = try writer.write(resource)
            return ArchivePlace(file: place.file, offset: place.offset)
        }
    }
}
