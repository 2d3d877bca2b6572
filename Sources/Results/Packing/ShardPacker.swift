internal import GannetBase
internal import GannetHTTP
internal import GannetQueue
internal import Lists

/// Packs bodies into shards. A sample's key is the id of its URL.
final class ShardPacker: BodyPacker {
    private let folder: BodyFolder
    private let writer: ShardWriter

    /// The shards that were cut off. They have another ending now, so that no reader takes them for shards.
    let setAside: [String]

    init(into folder: BodyFolder, samples: Int) throws {
        self.folder = folder
        setAside = try Self.setAsideDamaged(in: folder.path)
        var options = ShardOptions()
        options.samplesPerShard = samples
        writer = try StorageFailure.ofArchives { try ShardWriter(folder: folder.path, options: options) }
    }

    /// The rows of such a shard are fetched again, and its samples that can still be read would be there twice.
    private static func setAsideDamaged(in folder: String) throws -> [String] {
        let shards = try StorageFailure.ofArchives { try ShardWriter.shards(in: folder) }.map { ShardWriter.file(ofShard: $0) }
        return try shards.filter { !SamplePlace(shard: $0, name: "").isThere(in: folder) }.map { shard in
            guard rename("\(folder)/\(shard)", "\(folder)/\(shard).damaged") == 0 else {
                throw StorageFailure.refused("file", "\(folder)/\(shard)", "renamed", errno)
            }
            return shard
        }
    }

    /// The last shard alone can lack records: those of a shard are on the disk before the next one is complete.
    func unrecorded() throws -> [(id: URLID, place: String)] {
        try StorageFailure.ofArchives {
            guard let last = try ShardWriter.shards(in: folder.path).last else { return [] }
            let shard = ShardWriter.file(ofShard: last)
            return try ShardWriter.samples(inShard: last, of: folder.path).compactMap { sample in
                guard let bytes = [UInt8](hexadecimal: sample.key.utf8), let id = URLID(bytes) else { return nil }
                return (id, SamplePlace(shard: shard, name: sample.names[0]).text)
            }
        }
    }

    var takesExchanges: Bool { false }

    func pack(_ record: JobRecord, of line: ManifestLine) throws -> (text: String, isDurable: Bool)? {
        let key = record.id.bytes.hexadecimal
        let path = "\(folder.path)/\(record.file)"
        let ending = BodyEnding.of(path, contentType: record.stored.contentType)
        var sample = ShardSample(key: key, parts: [.init(ending, .file(path: path, count: record.stored.bytes))])
        if let caption = line.row.caption { sample.parts.append(.init("txt", .bytes(caption))) }
        sample.parts.append(.init("json", .bytes(line.figures(key: key))))
        let place = try StorageFailure.ofArchives { try writer.add(sample) }
        return (SamplePlace(shard: place.file, name: "\(key).\(ending)").text, place.isComplete)
    }

    func finish() throws { _ = try StorageFailure.ofArchives { try writer.close() } }
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
