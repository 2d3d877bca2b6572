internal import GannetBase
internal import GannetHTTP
internal import GannetQueue
internal import Lists

/// Shards or archives, into which bodies are packed.
protocol BodyPacker: Sendable {
    /// Bodies that a killed command may have packed without a record of it, and their places. They are on the disk.
    func unrecorded() throws -> [(id: URLID, place: PackedPlace)]

    /// Whether bodies are packed with their exchanges.
    var takesExchanges: Bool { get }

    /// Packs the body of a row, or the exchanges of a row that failed. Nil where there is nothing to pack.
    /// - Returns: The place, and whether it and all that was packed before it are on the disk.
    func pack(_ record: JobRecord, of line: ManifestLine) throws -> (place: PackedPlace, isDurable: Bool)?

    /// Puts everything on the disk.
    func finish() throws
}

/// Packs bodies into archives: with their exchanges where the folder has these, and otherwise as records without one (`resource`). The file of
/// a body has the time of its fetch.
final class ArchivePacker: BodyPacker {
    private let folder: BodyFolder
    private let writer: WARCWriter
    private let unflushed = Mutex(0)

    /// A flush takes as long for one record as for many.
    private static let batch = 1000

    init(into folder: BodyFolder, size: Int, information: [(name: String, value: String)]) throws {
        self.folder = folder
        writer = try WARCWriter.open(folder.path, size: size, information: information).writer
    }

    var takesExchanges: Bool { true }

    /// A body without a record has its file still, and is packed again: readers take the two records for two captures.
    func unrecorded() -> [(id: URLID, place: PackedPlace)] { [] }

    func pack(_ record: JobRecord, of line: ManifestLine) throws -> (place: PackedPlace, isDurable: Bool)? {
        guard let place = try written(record) else { return nil }
        let isDurable = unflushed.withLock { count in
            count = (count + 1) % Self.batch
            return count == 0
        }
        if isDurable { try writer.flush() }
        return (place, isDurable)
    }

    func finish() throws { try writer.close() }

    private func written(_ record: JobRecord) throws -> PackedPlace? {
        let body = ArchiveContent.file(path: "\(folder.path)/\(record.file)", count: record.bytes)
        if let kept = folder.exchanges(of: record.id), record.isFailed || kept.body == record.digest {
            do {
                let downloaded = record.isFailed ? nil : record.digest.map { (body, $0) }
                if let place = try writer.write(kept.exchanges, downloaded: downloaded) { return place }
            } catch is UnfitForArchive {
                // The exchanges break the rules of HTTP. The body alone can be had.
            }
        }
        if record.isFailed { return nil }
        var alone = WARCExchange(url: record.url, date: folder.time(of: record.file) ?? Date(), body: body)
        alone.contentType = record.contentType.isEmpty ? nil : record.contentType
        alone.payloadDigest = record.digest
        do {
            return try writer.write(alone)
        } catch let unfit as UnfitForArchive {
            throw StorageFailure(unfit.sentence)
        }
    }
}

/// Packs bodies into shards. A sample's key is the id of its URL.
extension ShardWriter: BodyPacker {
    /// Gives shards that were cut off another ending, so that no reader takes them for shards, and returns their names.
    ///
    /// The rows of such a shard are fetched again, and its samples that can still be read would be there twice.
    static func setAsideDamaged(in folder: String) throws -> [String] {
        let shards = try shards(in: folder).map { ShardWriter.fileName($0) }
        return try shards.filter { !PackedPlace.sample(file: $0, name: "").isThere(in: folder) }.map { shard in
            guard rename("\(folder)/\(shard)", "\(folder)/\(shard).damaged") == 0 else {
                throw StorageFailure.refused("file", "\(folder)/\(shard)", "renamed", errno)
            }
            return shard
        }
    }

    /// The last shard alone can lack records: those of a shard are on the disk before the next one is complete.
    func unrecorded() throws -> [(id: URLID, place: PackedPlace)] {
        guard let last = try Self.shards(in: folder).last else { return [] }
        return try Self.samples(inShard: last, of: folder).compactMap { sample in
            guard let bytes = [UInt8](hexadecimal: sample.key.utf8), let id = URLID(bytes) else { return nil }
            return (id, .sample(file: ShardWriter.fileName(last), name: sample.names[0]))
        }
    }

    var takesExchanges: Bool { false }

    func pack(_ record: JobRecord, of line: ManifestLine) throws -> (place: PackedPlace, isDurable: Bool)? {
        let key = record.id.bytes.hexadecimal
        let path = "\(folder)/\(record.file)"
        let ending = BodyKind(ofFile: path, servedAs: record.stored.contentType)?.ending ?? "bin"
        var parts: [Part] = [(ending, .file(path: path, count: record.stored.bytes))]
        if let caption = line.row.caption { parts.append(("txt", .bytes(caption))) }
        parts.append(("json", .bytes(line.figures(key: key))))
        let (shard, isComplete) = try add(key, parts)
        return (.sample(file: ShardWriter.fileName(shard), name: "\(key).\(ending)"), isComplete)
    }

    func finish() throws { _ = try close() }
}

/// The parts of a sample that come from its row. They are the same whichever run has fetched the body.
extension ManifestLine {
    /// The keys of a manifest's line that are about the run, and not about the body.
    private static let ofRun: Set = [
        "outcome", "durationMilliseconds", "file", "error", "result", "lastSha256", "fetchedAt", "checkedAt",
    ]

    /// The sample's `json`: the figures of its body, and the carried values.
    fileprivate func figures(key: String) -> [UInt8] {
        object([("key", .string(key))] + members.filter { !Self.ofRun.contains($0.key) })
    }
}

extension Row {
    /// The sample's `txt`: the first carried value, if it is a text, such as a caption.
    fileprivate var caption: [UInt8]? {
        carried?.withUnsafeBytes { bytes in
            guard let value = JSONText.values(ofObject: bytes).first, bytes[value.lowerBound] == UInt8(ascii: "\"") else { return nil }
            return JSONText.unescaped(UnsafeRawBufferPointer(rebasing: bytes[value.dropFirst().dropLast()]))
        }
    }
}
